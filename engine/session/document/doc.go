// Package document builds the typed tree of a reply and renders it: the text and
// the JSON of one reply come from one value, so they cannot disagree.
//
// It is pure and imports the messages of the protocol only.
package document
