package nowhere // want `PX013: plexus/nowhere has no place in the import table`
