package node

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/catalog/catalogpb"
	"plexus/engine/session"
)

// passwordFile holds the first password until somebody removes it.
const passwordFile = "initial-password"

// passwordAlphabet has 32 characters that are hard to confuse, so that each
// character is five random bits.
const passwordAlphabet = "abcdefghjkmnpqrstuvwxyz23456789A"

const passwordLength = 24

// found returns the steps of a new cluster: the user default and the domain
// default, unpaced and not started.
func (n *Node) found(passwords *session.Passwords) func(context.Context) ([]*catalogpb.Step, error) {
	return func(ctx context.Context) ([]*catalogpb.Step, error) {
		password := n.settings.InitialPassword
		if password == "" {
			password = n.drawPassword()
			if err := n.writePassword(password); err != nil {
				return nil, err
			}
		}
		hash, err := passwords.Hash(ctx, password)
		if err != nil {
			return nil, fmt.Errorf("hash the first password: %w", err)
		}
		return []*catalogpb.Step{
			{Body: &catalogpb.Step_CreateUser{CreateUser: &catalogpb.CreateUser{Name: "default", PasswordHash: hash}}},
			{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "default"}}},
		}, nil
	}
}

func (n *Node) drawPassword() string {
	var b [passwordLength]byte
	_, _ = n.world.Entropy().Read(b[:]) // it never fails
	for i := range b {
		b[i] = passwordAlphabet[int(b[i])%len(passwordAlphabet)]
	}
	return string(b[:])
}

func (n *Node) writePassword(password string) error {
	files, dir := n.world.Files(), n.settings.Control.Dir
	path := dir + "/" + passwordFile
	file, err := files.Create(path, false)
	if err != nil {
		return fmt.Errorf("write the first password: %w", err)
	}
	_, err = file.Append([]byte(password + "\n"))
	if err = errors.Join(err, file.Sync(), file.Close(), files.SyncDir(dir)); err != nil {
		return fmt.Errorf("write the first password: %w", err)
	}
	n.passwordPath = path
	return nil
}
