// Package vocab holds the words that the language, the engine and the
// connectors share: types, schemas, connector entities with their capabilities,
// typed external names, delivery modes and byte spans.
//
// It holds no behaviour beyond comparing, printing and validating those words,
// and imports the standard library only.
package vocab
