// Package rfc3339 reads and writes the date-times of casts and of wire
// documents as Unix nanoseconds.
//
// Reading accepts exactly RFC 3339 with offset, "T", "t" or a space between
// date and time, and up to nine fraction digits; neither leap seconds nor
// other shapes. Writing uses "+00:00" and 0, 3, 6 or 9 fraction digits, and
// reads back to the same instant. The package is pure and imports nothing of
// the product.
package rfc3339
