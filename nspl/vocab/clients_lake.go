package vocab

import (
	"encoding/json"
	"strings"
)

// The clients of object stores and of the catalog of Iceberg tables. None takes
// TLS files or a timeout: bundled and platform roots are trusted, and the storage
// operations have a bound of their own.

const (
	s3AccessKey = "access_key_id"
	s3SecretKey = "secret_access_key"
	s3Session   = "session_token"
	s3Region    = "region"
	anonymous   = "allow_anonymous"
)

var s3Config = clientConfig{
	keys: []ConfigKey{
		{Name: keyEndpoint, URLs: true, value: urlOf("https", "http")}, {Name: s3Region, value: filled},
		{Name: s3AccessKey, value: filled}, {Name: s3SecretKey, Secret: true, value: filled}, {Name: s3Session, Secret: true, value: filled},
		{Name: "path_style_access", value: boolean}, {Name: anonymous, value: boolean},
		{Name: "disable_ec2_metadata", value: boolean}, {Name: "disable_config_load", value: boolean},
	},
	check: func(s *settings) {
		s.together(s3AccessKey, s3SecretKey)
		if _, ok := s.get(s3AccessKey); !ok {
			s.refuse("needs access_key_id", s3Session)
		}
		if on, _ := s.get(anonymous); on == "true" {
			s.refuse("cannot stand beside allow_anonymous = true", s3AccessKey, s3SecretKey, s3Session)
		}
		if off, _ := s.get("disable_config_load"); off == "true" {
			s.required(s3Region)
		}
	},
}

var gcsConfig = clientConfig{
	keys: []ConfigKey{
		{Name: "service_path", URLs: true, value: urlOf("https", "http")},
		{Name: "credentials_json", Secret: true, value: func(text string) string {
			if !json.Valid([]byte(text)) {
				return "must be a JSON document"
			}
			return ""
		}},
		{Name: keyToken, Secret: true, value: filled}, {Name: "no_auth", value: boolean}, {Name: anonymous, value: boolean},
		{Name: "disable_vm_metadata", value: boolean},
	},
	check: func(s *settings) {
		s.excludes(keyToken, "credentials_json")
		for _, key := range []string{"no_auth", anonymous} {
			if on, _ := s.get(key); on == "true" {
				s.refuse("cannot stand beside "+key+" = true", "credentials_json", keyToken)
			}
		}
	},
}

const (
	azureName       = "account_name"
	azureKey        = "account_key"
	azureSAS        = "sas_token"
	azureTenant     = "tenant_id"
	azureClient     = "client_id"
	azureSecret     = "client_secret"
	azureAuthority  = "authority_host"
	azureConnection = "connection_string"
)

var azureBlobConfig = clientConfig{
	keys: []ConfigKey{
		{Name: azureName, value: filled}, {Name: azureKey, Secret: true, value: filled}, {Name: azureSAS, Secret: true, value: filled},
		{Name: azureTenant, value: filled}, {Name: azureClient, value: filled}, {Name: azureSecret, Secret: true, value: filled},
		{Name: azureAuthority, URLs: true, value: urlOf("https", "http")}, {Name: azureConnection, Secret: true, value: filled},
	},
	check: func(s *settings) {
		s.together(azureTenant, azureClient, azureSecret)
		s.excludes(azureConnection, azureName, azureKey, azureSAS, azureTenant)
		s.excludes(azureKey, azureSAS, azureTenant)
		s.excludes(azureSAS, azureTenant)
		if _, ok := s.has(azureName, azureConnection); !ok {
			s.fail(azureName, "is required, or else connection_string")
		}
	},
}

var icebergRESTConfig = clientConfig{
	keys: []ConfigKey{
		{Name: "uri", Required: true, URLs: true, value: urlOf("https", "http")}, {Name: "warehouse", value: filled},
		{Name: "credential", Secret: true, value: filled}, {Name: keyToken, Secret: true, value: filled}, {Name: "prefix", value: filled},
		{Name: "scope", value: filled}, {Name: "audience", value: filled}, {Name: "resource", value: filled},
	},
	// Catalogs have properties of their own, which the server defines. They are told
	// from a misspelt key by the '.' or '-' in their names.
	open:  func(key string) bool { return strings.ContainsAny(key, ".-") },
	check: func(s *settings) { s.excludes(keyToken, "credential") },
}
