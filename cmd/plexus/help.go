package main

import (
	"fmt"
	"slices"
	"strings"

	"plexus/nspl/grammar"
	"plexus/nspl/vocab"
)

// The bounds of one answer: how many statements are shown whole, and how many lines.
const (
	formsMax = 6
	linesMax = 12
)

// helpOn returns the help on a topic: on the prompt, or on what the grammar calls so.
func helpOn(topic string) string {
	topic = strings.TrimRight(strings.TrimSpace(topic), ";")
	if topic == "" {
		return help + "\n\ntopics are the first words of a statement, a kind of entity, or a clause:\n" + topicList() +
			"\nfor example \\help create relay, \\help window processor, \\help flush, \\help kafka"
	}
	h := grammar.About(topic)
	if !h.Found() {
		text := "nothing is called " + topic
		if near := nearTopic(topic); near != "" {
			text += "; did you mean " + near + "?"
		}
		return text + "\n\\help lists the topics"
	}
	var lines, pages []string
	for _, r := range h.Rules {
		text := r.Text
		if len(h.Rules) == 1 {
			text = grammar.Form(r)
		} else if len(h.Rules) > formsMax {
			text = r.Name
		}
		lines = append(lines, text)
		if page, ok := r.Page(); ok && !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	if len(h.Also) > 0 {
		lines = append(lines, "also: "+strings.Join(h.Also, ", "))
	}
	for i, line := range h.Lines {
		if i == linesMax {
			lines = append(lines, fmt.Sprintf("and %d more", len(h.Lines)-i))
			break
		}
		lines = append(lines, line.Rule+": "+line.Text)
	}
	for _, page := range pages {
		lines = append(lines, "manual: docs/manual/nspl/"+page+".md")
	}
	return strings.Join(append(lines, "the whole grammar: docs/manual/nspl/grammar.md"), "\n")
}

// nearTopic returns the topic that was probably meant: word by word, since most
// topics have several.
func nearTopic(topic string) string {
	known := grammar.Topics()
	asked := strings.ToUpper(strings.Join(strings.Fields(topic), " "))
	if near := vocab.Nearest(asked, known); near != "" {
		return near
	}
	words := strings.Fields(asked)
	for i, word := range words {
		if slices.Contains(known, word) {
			continue
		}
		if near := vocab.Nearest(word, known); near != "" {
			words[i] = near
		}
	}
	near := strings.Join(words, " ")
	for len(words) > 0 && !grammar.About(near).Found() {
		words = words[:len(words)-1]
		near = strings.Join(words, " ")
	}
	if near == asked {
		return ""
	}
	return near
}

// topicList names the statements in lines.
func topicList() string {
	var b strings.Builder
	width := 0
	for _, r := range grammar.Statements() {
		name := strings.ReplaceAll(strings.TrimPrefix(r.Name, "create_"), "_", " ")
		if width+len(name) > 96 {
			b.WriteString("\n")
			width = 0
		}
		if width > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		width += len(name) + 2
	}
	return b.String()
}
