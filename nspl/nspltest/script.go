package nspltest

import (
	"strconv"
	"strings"
)

// familiesPerDomain keeps the domains of a script below the bound of operators.
const familiesPerDomain = 40

// Script returns a script of about n statements: domains with one pipeline after
// the other, each with its schemas, codecs, relays, processors and emitters, some
// of them altered afterwards, with comments as people write them.
func Script(n int) string {
	var b strings.Builder
	for family := 0; n > 0; family++ {
		domain := strconv.Itoa(family / familiesPerDomain)
		if family%familiesPerDomain == 0 {
			n -= write(&b, opening, domain)
		}
		n -= write(&b, pipeline, strconv.Itoa(family))
	}
	return b.String()
}

// write puts one text out under its number and tells how many statements it has.
func write(b *strings.Builder, text, number string) int {
	b.WriteString(strings.ReplaceAll(text, "#", number))
	return strings.Count(text, ";\n")
}

const opening = `// Plant #: every line of machines writes to the bus, and every line reads its own alerts.
CREATE DOMAIN plant_#;
USE plant_#;
CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
CREATE SCHEMA machine_key (site STRING, machine U64);
CREATE BRANCH by_machine SCHEMA machine_key TTL 15m MAX INSTANCES 5000 EVICT LRU;

`

const pipeline = `// Line #: what its machines measure, cleaned, judged and summed up.
CREATE SCHEMA reading_# (site STRING, machine U64, at DATETIME, temperature F64, pressure F64 OPTIONAL, state STRING);
CREATE SCHEMA alert_# (site STRING, machine U64, at DATETIME, level STRING, text STRING);
CREATE SCHEMA summary_# (samples I64, mean F64, hottest F64);
CREATE WIRE JSON SCHEMA reading_wire_# MODE STRICT (site string, machine integer, at string, temperature number, pressure number OPTIONAL, state string);
CREATE CODEC reading_codec_# FROM WIRE JSON SCHEMA reading_wire_# TO SCHEMA reading_# ENCODE at AS RFC3339;
CREATE WIRE JSON SCHEMA alert_wire_# MODE STRICT (site string, machine integer, at string, level string, text string);
CREATE CODEC alert_codec_# FROM WIRE JSON SCHEMA alert_wire_# TO SCHEMA alert_# ENCODE at AS RFC3339;
CREATE RELAY readings_# SCHEMA reading_# BRANCHED BY by_machine CAPACITY 64 WITH MATERIALIZED STATE LAST BY TIMESTAMP;
CREATE RELAY clean_# SCHEMA reading_# BRANCHED BY by_machine CAPACITY 64;
CREATE RELAY alerts_# SCHEMA alert_# BRANCHED BY by_machine;
CREATE RELAY summaries_# SCHEMA summary_# BRANCHED BY by_machine;

CREATE NATS STREAM INGESTOR line_#
  FROM NATS bus STREAM readings_# CONSUMER plexus
    MODE ACK PARALLEL MAX 512 BATCH TIMEOUT 50ms ACK TIMEOUT 30s RETRY POLICY BACKOFF 200ms MAX 10s
    ON QUIESCE SUSPEND
  DECODE USING reading_codec_#
  TIMESTAMP AT at
  FILTER WHERE input.temperature > -273.15 AND input.state != ''
  TO readings_#
    INHERIT ALL
    BRANCHED BY by_machine SET site = message.site, machine = message.machine
    FLUSH EACH 100ms MAX BATCH SIZE 1MiB
    ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;

CREATE DEDUPLICATOR once_#
  FROM readings_#
  DEDUPLICATE ON input.machine, input.at
  MAX TIME 10m
  BRANCHED BY by_machine
  TO clean_#
    INHERIT ALL
    FLUSH IMMEDIATE
    ON MESSAGE ERROR LOG;

CREATE JUNCTION judge_#
  FROM clean_# WHERE input.state = 'running' OR input.state = 'starting'
  BRANCHED BY by_machine
  USING MATERIALIZED STATE readings_# REQUIRED SKIP
  TO alerts_#
    INHERIT site, machine, at
    SET level = IF input.temperature > 120.0 THEN 'critical' ELSE 'warning' END,
        text = concat('machine ', (input.machine AS STRING), ' of ', upper(input.site), ' is hot')
    WHERE input.temperature > 90.0 AND coalesce(input.pressure, 0.0) < 1000000.0
    FLUSH IMMEDIATE
    ON MESSAGE ERROR LOG;

// The last five minutes of each machine,
// every minute.
CREATE WINDOW PROCESSOR load_#
  FROM clean_#
  WIDTH 5m DURATION
  STEP 1m DURATION
  MAX STATE SIZE 4MiB
  BRANCHED BY by_machine
  TO summaries_#
    SET samples = COUNT(input.temperature),
        mean = AVG(input.temperature),
        hottest = MAX(input.temperature)
    WHERE output.samples > 3
    ON MESSAGE ERROR LOG;

CREATE NATS SUBJECT EMITTER alerts_out_#
  FROM alerts_# WHERE input.level = 'critical'
  TO NATS bus SUBJECT ` + "`alerts.line_#`" + `
    MODE JETSTREAM ACK PARALLEL MAX 100 ACK TIMEOUT 30s RETRY POLICY BACKOFF 250ms MAX 30s
    ENCODE USING alert_codec_#
  INHERIT ALL
  INVOKE write_header('line', '#'), write_header('level', input.level)
  FLUSH EACH 50ms MAX BATCH SIZE 256KiB
  ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;

ALTER JUNCTION judge_# SET FILTER WHERE is_null(input.pressure) OR input.pressure > 0.0;
ALTER RELAY alerts_# SET CAPACITY 32;

`
