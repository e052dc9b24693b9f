package ast

// Backup is BACKUP CLUSTER, or BACKUP DOMAIN, where no name is the selected one. A
// client writes the archive.
type Backup struct {
	Head
	Cluster          bool
	Domain           *Name
	Path             Text
	WithoutResources bool
	WithoutState     bool
	WithoutPause     bool
	Timeout          *Duration
}

// OnExistingUser is what RESTORE CLUSTER does with a user that exists.
type OnExistingUser uint8

// What was written; nothing means FAIL.
const (
	ExistingUserOmitted OnExistingUser = iota
	ExistingUserFail
	ExistingUserSkip
	ExistingUserReplace
)

var onExistingUserNames = [...]string{"", "FAIL", "SKIP", "REPLACE"}

// String returns the keyword.
func (o OnExistingUser) String() string { return onExistingUserNames[o] }

// Restore is RESTORE CLUSTER or RESTORE DOMAIN. A client reads the archive.
type Restore struct {
	Head
	Cluster        bool
	Domain         Name
	As             *Name
	Path           Text
	Resume         bool
	ExistingUser   OnExistingUser
	DryRun         bool
	WithoutState   bool
	WithoutOffsets bool
}

// DescribeBackup is DESCRIBE BACKUP: what an archive holds.
type DescribeBackup struct {
	Head
	Path   Text
	Format Format
}
