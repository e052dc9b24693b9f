package primitivestest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"pgregory.net/rapid"

	"plexus/primitives"
)

func (t *test) create(name string) primitives.File {
	t.Helper()
	f, err := t.w.Files().Create(t.name(name), false)
	t.ok(err)
	return f
}

func (t *test) name(name string) string { return path.Join(t.Dir, name) }

// holds checks the whole content of an open file.
func (t *test) holds(f primitives.File, want string) {
	t.Helper()
	size, err := f.Size()
	t.ok(err)
	got := make([]byte, len(want)+10)
	n, err := f.ReadAt(got, 0)
	t.that(err == io.EOF, "read to the end gave %v", err)
	t.that(string(got[:n]) == want && size == int64(len(want)), "holds %q and says %d bytes, want %q", got[:n], size, want)
}

func (t *test) writesFile(name, text string) {
	t.Helper()
	f := t.create(name)
	_, err := f.Append([]byte(text))
	t.ok(err)
	t.ok(f.Sync())
	t.ok(f.Close())
}

func (t *test) fileHolds(name, want string) {
	t.Helper()
	f, err := t.w.Files().Open(t.name(name))
	t.ok(err)
	t.holds(f, want)
	t.ok(f.Close())
}

func (t *test) entries(dir string) []string {
	t.Helper()
	list, err := t.w.Files().List(t.name(dir))
	t.ok(err)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return names
}

var fileCases = []testCase{
	{"reading and writing", func(t *test) {
		f := t.create("f")
		n, err := f.Append([]byte("hello"))
		t.that(n == 5 && err == nil, "append: %d, %v", n, err)
		_, err = f.WriteAt([]byte("J"), 0)
		t.ok(err)
		_, err = f.Append([]byte(" world"))
		t.ok(err)
		t.holds(f, "Jello world")
		p := make([]byte, 4)
		n, err = f.ReadAt(p, 1)
		t.that(n == 4 && err == nil && string(p) == "ello", "read %q, %v", p[:n], err)
		n, err = f.ReadAt(p, 9)
		t.that(n == 2 && err == io.EOF && string(p[:n]) == "ld", "read %q, %v", p[:n], err)
		n, err = f.ReadAt(p, 100)
		t.that(n == 0 && err == io.EOF, "read past the end: %d, %v", n, err)
		_, err = f.WriteAt([]byte("!"), 13)
		t.ok(err)
		t.holds(f, "Jello world\x00\x00!")
		t.ok(f.Truncate(5))
		_, err = f.Append([]byte("-"))
		t.ok(err)
		t.ok(f.Truncate(8))
		t.holds(f, "Jello-\x00\x00")
		t.ok(f.Sync())
		t.ok(f.Close())
		_, err = f.Append([]byte("x"))
		t.that(errors.Is(err, fs.ErrClosed), "write after close gave %v", err)
		t.fileHolds("f", "Jello-\x00\x00")
	}},
	{"opening for more", func(t *test) {
		t.writesFile("f", "one")
		f, err := t.w.Files().Open(t.name("f"))
		t.ok(err)
		_, err = f.Append([]byte("two"))
		t.ok(err)
		t.ok(f.Close())
		t.fileHolds("f", "onetwo")
	}},
	{"creation", func(t *test) {
		_, err := t.w.Files().Open(t.name("f"))
		t.that(errors.Is(err, fs.ErrNotExist), "open of a missing file gave %v", err)
		_, err = t.w.Files().Create(t.name("missing/f"), false)
		t.that(errors.Is(err, fs.ErrNotExist), "creation in a missing directory gave %v", err)
		f, err := t.w.Files().Create(t.name("f"), true)
		t.ok(err)
		_, err = f.Append([]byte("content"))
		t.ok(err)
		t.ok(f.Close())
		_, err = t.w.Files().Create(t.name("f"), true)
		t.that(errors.Is(err, fs.ErrExist), "exclusive creation of an existing file gave %v", err)
		t.fileHolds("f", "content")
		t.ok(t.create("f").Close())
		t.fileHolds("f", "")
	}},
	{"renaming replaces", func(t *test) {
		t.writesFile("old", "new content")
		t.writesFile("target", "old content")
		open, err := t.w.Files().Open(t.name("target"))
		t.ok(err)
		t.ok(t.w.Files().Rename(t.name("old"), t.name("target")))
		t.ok(t.w.Files().SyncDir(t.Dir))
		t.fileHolds("target", "new content")
		t.holds(open, "old content")
		t.ok(open.Close())
		t.that(slices.Equal(t.entries("."), []string{"target"}), "directory holds %v", t.entries("."))
		err = t.w.Files().Rename(t.name("old"), t.name("target"))
		t.that(errors.Is(err, fs.ErrNotExist), "rename of a missing file gave %v", err)
	}},
	{"removing", func(t *test) {
		t.writesFile("f", "content")
		open, err := t.w.Files().Open(t.name("f"))
		t.ok(err)
		t.ok(t.w.Files().Remove(t.name("f")))
		t.holds(open, "content")
		t.ok(open.Close())
		err = t.w.Files().Remove(t.name("f"))
		t.that(errors.Is(err, fs.ErrNotExist), "removal of a missing file gave %v", err)
		t.ok(t.w.Files().MkdirAll(t.name("a/b/c")))
		t.writesFile("a/b/c/f", "x")
		t.that(t.w.Files().Remove(t.name("a")) != nil, "removed a directory with content")
		t.ok(t.w.Files().RemoveAll(t.name("a")))
		t.ok(t.w.Files().RemoveAll(t.name("a")))
		t.that(len(t.entries(".")) == 0, "directory holds %v", t.entries("."))
	}},
	{"directories", func(t *test) {
		files := t.w.Files()
		t.ok(files.MkdirAll(t.name("d/sub")))
		t.ok(files.MkdirAll(t.name("d/sub")))
		for _, name := range []string{"d/b", "d/a", "d/c10", "d/c9"} {
			t.writesFile(name, name)
		}
		list, err := files.List(t.name("d"))
		t.ok(err)
		want := []primitives.FileEntry{{Name: "a", Size: 3}, {Name: "b", Size: 3}, {Name: "c10", Size: 5}, {Name: "c9", Size: 4}, {Name: "sub", Dir: true}}
		t.that(slices.Equal(list, want), "list %v", list)
		_, err = files.List(t.name("missing"))
		t.that(errors.Is(err, fs.ErrNotExist), "list of a missing directory gave %v", err)
		err = files.SyncDir(t.name("missing"))
		t.that(errors.Is(err, fs.ErrNotExist), "sync of a missing directory gave %v", err)
		t.that(files.MkdirAll(t.name("d/a/x")) != nil, "made a directory below a file")
	}},
	{"locking", func(t *test) {
		lock, err := t.w.Files().Lock(t.name("lock"))
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		t.ok(err)
		_, err = t.w.Files().Lock(t.name("lock"))
		t.that(errors.Is(err, primitives.ErrLocked), "second lock gave %v", err)
		t.ok(lock.Unlock())
		lock, err = t.w.Files().Lock(t.name("lock"))
		t.ok(err)
		t.ok(lock.Unlock())
	}},
	{"a file is a sequence of bytes", func(t *test) {
		rapid.Check(t.T, func(r *rapid.T) {
			f := t.create("f")
			defer f.Close()
			var model []byte
			bytesOf := rapid.SliceOfN(rapid.Byte(), 0, 50)
			grow := func(size int) {
				if size > len(model) {
					model = append(model, make([]byte, size-len(model))...)
				}
			}
			ok := func(err error) {
				if err != nil {
					r.Fatal(err)
				}
			}
			r.Repeat(map[string]func(*rapid.T){
				"append": func(r *rapid.T) {
					p := bytesOf.Draw(r, "bytes")
					_, err := f.Append(p)
					ok(err)
					model = append(model, p...)
				},
				"write": func(r *rapid.T) {
					p, off := bytesOf.Draw(r, "bytes"), rapid.IntRange(0, 200).Draw(r, "offset")
					_, err := f.WriteAt(p, int64(off))
					ok(err)
					if len(p) > 0 {
						grow(off + len(p))
						copy(model[off:], p)
					}
				},
				"truncate": func(r *rapid.T) {
					size := rapid.IntRange(0, 200).Draw(r, "size")
					ok(f.Truncate(int64(size)))
					grow(size)
					model = model[:size]
				},
				"reopen": func(r *rapid.T) {
					ok(f.Close())
					var err error
					f, err = t.w.Files().Open(t.name("f"))
					ok(err)
				},
				"": func(r *rapid.T) {
					got := make([]byte, len(model)+1)
					n, err := f.ReadAt(got, 0)
					if err != io.EOF || !bytes.Equal(got[:n], model) {
						r.Fatalf("read %x, %v; want %x", got[:n], err, model)
					}
				},
			})
		})
	}},
}
