package ast

// Words names a statement by its keywords, never by a name: for outcomes, metrics
// and help.
func Words(s Statement) string {
	switch s := s.(type) {
	case Declaration:
		return "CREATE " + s.Declares().String()
	case Alteration:
		return "ALTER " + s.Alters().String()
	case *CreateUser:
		return "CREATE USER"
	case *AlterUser:
		return "ALTER USER"
	case *AlterDomain:
		return "ALTER DOMAIN"
	case *NodeControl:
		return s.Verb.String() + " NODE"
	case *Relocate:
		return "RELOCATE"
	case *DescribeRelocation:
		return "DESCRIBE RELOCATION"
	case *DescribeTransaction:
		return "DESCRIBE TRANSACTION"
	case *RebindResource:
		return "REBIND RESOURCE"
	case *UploadResource:
		return "UPLOAD RESOURCE"
	case *ResetWASM:
		return "RESET WASM PROCESSOR"
	case *Clock:
		if s.Attach {
			return "ATTACH DOMAIN CLOCK"
		}
		return "DETACH DOMAIN CLOCK"
	case *Backup:
		return "BACKUP " + scopeWord(s.Cluster)
	case *Restore:
		return "RESTORE " + scopeWord(s.Cluster)
	case *DescribeBackup:
		return "DESCRIBE BACKUP"
	case *Lookup:
		return "LOOKUP"
	case *ShowState:
		return "SHOW RELAY MATERIALIZED STATE"
	case *Drop:
		return "DROP " + s.Kind.String()
	case *Start:
		return "START"
	case *Stop:
		return "STOP"
	case *ShowCreate:
		return "SHOW CREATE"
	case *Show:
		return "SHOW " + s.What.String()
	case *Describe:
		return "DESCRIBE " + s.Kind.String()
	case *Begin:
		return "BEGIN"
	case *Commit:
		return "COMMIT"
	case *Revert:
		return "REVERT"
	case *Use:
		return "USE"
	case *ListDomains:
		return "LIST DOMAINS"
	case *CreateSubscription:
		return "CREATE SUBSCRIPTION"
	case *DeleteSubscription:
		return "DELETE SUBSCRIPTION"
	}
	return "STATEMENT"
}

func scopeWord(cluster bool) string {
	if cluster {
		return "CLUSTER"
	}
	return "DOMAIN"
}
