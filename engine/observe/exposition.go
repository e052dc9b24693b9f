package observe

import (
	"strconv"
	"strings"
)

var kindTexts = [...]string{KindCounter: "counter", KindGauge: "gauge", KindHistogram: "histogram"}

// AppendText appends samples, which are in family order, in the Prometheus text
// format.
func AppendText(out []byte, samples []Sample) []byte {
	var family *Family
	for i := range samples {
		s := &samples[i]
		if s.Family != family {
			family = s.Family
			out = append(out, "# HELP "+family.Name+" "+helpEscapes.Replace(family.Help)+"\n"...)
			out = append(out, "# TYPE "+family.Name+" "+kindTexts[family.Kind]+"\n"...)
		}
		if family.Kind != KindHistogram {
			out = appendSample(out, s, "", "", s.Value)
			continue
		}
		var count uint64
		for bucket, cumulative := range s.Cumulative {
			bound := "+Inf"
			if bucket < len(family.Buckets) {
				bound = strconv.FormatFloat(family.Buckets[bucket], 'g', -1, 64)
			}
			out = appendSample(out, s, "_bucket", bound, float64(cumulative))
			count = cumulative
		}
		out = appendSample(out, s, "_sum", "", s.Sum)
		out = appendSample(out, s, "_count", "", float64(count))
	}
	return out
}

// appendSample appends one line; bound is the value of the label le, "" without
// one.
func appendSample(out []byte, s *Sample, suffix, bound string, value float64) []byte {
	out = append(out, s.Family.Name+suffix...)
	separator := byte('{')
	label := func(name, value string) {
		out = append(out, separator)
		out = append(out, name+`="`+labelEscapes.Replace(value)+`"`...)
		separator = ','
	}
	for i, name := range s.Family.Labels {
		label(name, s.Values[i])
	}
	if bound != "" {
		label("le", bound)
	}
	if separator == ',' {
		out = append(out, '}')
	}
	out = append(out, ' ')
	out = strconv.AppendFloat(out, value, 'g', -1, 64)
	return append(out, '\n')
}

var (
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)
