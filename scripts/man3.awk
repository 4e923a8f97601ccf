# Makes the manual pages of section 3 out of the comments of a public header.
#
#   awk -f scripts/man3.awk -v out=DIR -v version=0.1.0 -v date=2026-11-22 HEADER
#
# A section "/* ---- PAGE: title ---- */" of the header is a page; what stands in front of the
# first one is the page of the header itself. A comment describes the declarations behind it,
# up to an empty line. Each function that a page describes is a link to it.
function text(s) { # of a line of a comment or of code
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	gsub(/~/, "\\(ti", s)
	gsub(/\^/, "\\(ha", s)
	gsub(/`/, "\\(ga", s)
	gsub(/'/, "\\(aq", s)
	gsub(/…/, "...", s)
	gsub(/−/, "\\-", s)
	gsub(/→/, "to", s)
	gsub(/·/, "*", s)
	if (s ~ /^\./) s = "\\&" s
	return s
}
function add(line) { body = body line "\n" }
# Running text, in lines that mandoc does not find too long.
function wrapped(s,   n, i, w, line, ret) {
	n = split(s, w, " ")
	for (i = 1; i <= n; i++) {
		if (line != "" && length(text(line " " w[i])) > 79) { ret = ret text(line) "\n"; line = "" }
		line = line (line == "" ? "" : " ") w[i]
	}
	return ret text(line)
}
# The comment so far as paragraphs; indented lines are examples.
function flush_comment(   n, i, lines, literal, pending) {
	n = split(comment, lines, "\n")
	comment = ""
	for (i = 1; i <= n; i++) {
		if (lines[i] ~ /^  /) {
			if (!literal) add(".PP\n.RS\n.nf")
			literal = 1
			add(text(substr(lines[i], 3)))
			continue
		}
		if (literal && lines[i] == "" && lines[i + 1] ~ /^  /) { add(""); continue }
		if (literal) add(".fi\n.RE")
		if (literal && lines[i] != "") add(".PP")
		literal = 0
		if (lines[i] == "") { pending = 1; continue }
		if (pending || i == 1) add(".PP")
		pending = 0
		add(wrapped(lines[i]))
	}
	if (literal) add(".fi\n.RE")
}
function flush_code(   n, i, lines, c) {
	if (code == "") return
	n = split(code, lines, "\n")
	code = ""
	add(".PP\n.nf")
	for (i = 1; i <= n; i++) {
		c = lines[i]
		if (match(c, /symcache_[a-z_0-9]+\(/) && declared)
			functions = functions (functions == "" ? "" : " ") substr(c, RSTART, RLENGTH - 1)
		declared = i < n && c !~ /;/ ? declared : lines[i + 1] ~ /SYMCACHE_API/
		sub(/SYMCACHE_API /, "", c)
		gsub(/\t/, "    ", c)
		if (i < n || c != "") add(text(c))
	}
	add(".fi")
	declared = 0
}
function flush_item() { held = comment; comment = ""; flush_code(); comment = held; flush_comment() }
function finish(   file, n, i, f, names) {
	if (page == "" || (body == "" && functions == "")) return
	file = out "/" page ".3"
	n = split(functions, f, " ")
	names = n ? "" : page
	for (i = 1; i <= n; i++) names = names (i > 1 ? ", " : "") f[i]
	if (n && index(" " functions " ", " " page " ") == 0) names = page ", " names
	printf ".TH %s 3 %s \"symcache %s\" \"Library Functions Manual\"\n.SH NAME\n%s\n.SH SYNOPSIS\n.nf\n#include <%s>\n.fi\n.PP\nLink with %s.\n.SH DESCRIPTION\n", \
		text(toupper(page)), date, version, wrapped(names " - " title), \
		text(header), \
		(header ~ /build/ ? "\\-lsymcache\\-build \\-lsymcache" : "\\-lsymcache") > file
	sub(/^\.PP\n/, "", body)
	printf "%s.SH SEE ALSO\n.BR symcache (1)%s\n", body, page == "symcache" ? pages : ",\n.BR symcache (3)" > file
	close(file)
	for (i = 1; i <= n; i++)
		if (f[i] != page) { print ".so man3/" page ".3" > (out "/" f[i] ".3"); close(out "/" f[i] ".3") }
	body = functions = ""
}
BEGIN {
	first = 1
	while ((getline line < ARGV[ARGC - 1]) > 0) # for the page of the header itself
		if (line ~ /^\/\* ---- /) { split(line, w, /[ :]+/); pages = pages ",\n.BR " w[3] " (3)" }
}
FNR == 1 {
	header = FILENAME; sub(/.*\//, "", header)
	page = header; sub(/\.h$/, "", page); gsub(/-/, "_", page)
}
/^#(ifndef|ifdef|if|else|endif|error|include)/ || /^#define SYMCACHE_(API|LIBRARY_H|BUILD_LIBRARY_H)/ ||
	/^extern "C"/ || /^}$/ { next }
/^\/\* ---- / {
	flush_item(); finish()
	page = $3; sub(/:$/, "", page)
	title = $0; sub(/^[^:]*: /, "", title); sub(/ *-* *\*\/$/, "", title)
	next
}
/^\/\*/ { incomment = 1; sub(/^\/\*/, " *"); if (code != "") flush_item() }
incomment {
	done = sub(/ *\*\/$/, "")
	sub(/^ \* ?/, "")
	if (first && match($0, /^symcache[a-z-]*\.h: /)) {
		title = substr($0, RLENGTH + 1); sub(/\.$/, "", title); first = 0
	} else if (!(done && $0 == "") && !(comment == "" && $0 == ""))
		comment = comment (comment == "" ? "" : "\n") $0
	if (done) incomment = 0
	next
}
/^$/ { flush_item(); next }
{
	if (code == "") declared = /SYMCACHE_API/
	code = code (code == "" ? "" : "\n") $0
}
END { flush_item(); finish() }
