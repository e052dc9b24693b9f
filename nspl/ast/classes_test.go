package ast_test

import (
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

// TestClasses is the table of statement classes: who handles a statement, and
// whether a transaction takes it.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		class ast.Class
		texts []string
	}{
		{ast.ModelMutation, []string{
			"CREATE SCHEMA s (a U8)", "CREATE WIRE AVRO SCHEMA s MODE LOOSE (a INT)", "CREATE HASH MAP h KEY k FROM RESOURCE r VERSION 1 PATH 'p' DECODE USING c",
			"CREATE SIGNALING PROTOCOL p FORMAT RAW ON CONNECT SEND JAQ '.' TIMEOUT 1s", "ALTER SCHEMA s DROP FIELD a", "ALTER WIRE CBOR SCHEMA s MODE STRICT",
			"ALTER PLACEMENT p DROP RANK", "DROP HASH MAP h", "DROP SIGNALING PROTOCOL p", "REBIND RESOURCE r TO VERSION LATEST",
		}},
		{ast.DomainLifecycle, []string{
			"ALTER DOMAIN SET PLACEMENT NEUTRAL", "START", "START AT '2026-01-01T00:00:00Z'", "STOP", "RESET WASM PROCESSOR w STATE IN DOMAIN d FOR UNBRANCHED",
		}},
		{ast.ResourceDeclaration, []string{"CREATE RESOURCE r", "CREATE IF NOT EXISTS RESOURCE r"}},
		{ast.ClusterAdmin, []string{
			"CREATE DOMAIN d", "CREATE PACED DOMAIN d WITH PERIOD 1s SKEW 0s", "DROP DOMAIN d", "CREATE USER u WITH PASSWORD 'twelve bytes'",
			"ALTER USER u SET PASSWORD 'twelve bytes'", "DROP USER u", "CORDON NODE n", "UNCORDON NODE n", "DRAIN NODE n", "DROP NODE n",
			"RELOCATE RELAY r ONTO NODE n FOLLOW PREFERENCES",
		}},
		{ast.ReadOnly, []string{
			"SHOW CREATE RESOURCE r", "SHOW RELAY r MATERIALIZED STATE", "SHOW CLUSTER STATUS", "SHOW UDFS", "SHOW TRANSACTIONS", "DESCRIBE DOMAIN",
			"DESCRIBE RESOURCE r VERSION 1", "DESCRIBE TRANSACTION", "DESCRIBE RELOCATION RELAY r ONTO NODE n FOLLOW PREFERENCES", "LOOKUP h KEY 'k'",
		}},
		{ast.SessionLocal, []string{"CREATE SUBSCRIPTION s TO r", "DELETE SUBSCRIPTION s", "ATTACH DOMAIN CLOCK", "DETACH DOMAIN CLOCK"}},
		{ast.TxControl, []string{"BEGIN", "COMMIT", "REVERT"}},
		{ast.ClientLocal, []string{
			"USE d", "LIST DOMAINS", "UPLOAD RESOURCE r VERSION 'dir'", "BACKUP CLUSTER TO 'f'", "RESTORE DOMAIN d FROM 'f'", "DESCRIBE BACKUP 'f'",
		}},
	} {
		for _, text := range c.texts {
			s, err := parse.Statement(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if got := ast.ClassOf(s); got != c.class {
				t.Errorf("%s: class %d, want %d", text, got, c.class)
			}
			queued := c.class <= ast.ResourceDeclaration
			if ast.ClassOf(s).Queueable() != queued {
				t.Errorf("%s: a transaction takes it: %t", text, !queued)
			}
			if ast.Words(s) == "STATEMENT" {
				t.Errorf("%s has no words", text)
			}
		}
	}
}
