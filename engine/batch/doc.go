// Package batch is the shape of records inside the graph: the Arrow layout of a
// schema, selections of rows, and the copying that turns selections and runs of
// batches back into dense batches.
//
//	B1  A batch has exactly the layout of [ArrowSchema]; encodings such as
//	    dictionaries or views never occur.
//	B2  Rows, watermarks and other row-aligned lists are selected together, by
//	    the same [Selection].
//	B3  A function that returns a batch or an array returns it retained: the
//	    caller releases it. Nothing here keeps a reference after it returned.
//
// Memory comes from the allocator passed in; [Pool] recycles it. The package is
// pure and imports nspl/vocab and arrow only.
package batch
