"use strict";
(() => {
	const $ = id => document.getElementById(id);
	const log = $("log"), query = $("query"), only = $("only"), count = $("count");
	const blocks = Array.from(log.getElementsByClassName("b")), number = new Map();
	const texts = [], first = [0];
	let hits = [], now = -1, timer = 0, at = null;

	/* The text of a block, in which lines end with a newline, and the number of lines
	 * before it are made when they are first wanted, or meanwhile: `until` is a time. */
	function index(until) {
		while (texts.length < blocks.length && !(performance.now() > until)) {
			const i = texts.length, b = blocks[i];
			number.set(b, i);
			first.push(first[i] + b.childElementCount);
			texts.push(b.textContent.slice(1).toLowerCase());
			watch.observe(b);
		}
	}

	function prepare() {
		index(performance.now() + 10);
		if (texts.length < blocks.length)
			setTimeout(prepare);
	}

	/* The lines of a block in which `want` is. */
	function find(text, want, base) {
		const found = [];
		let line = 0, from = 0;
		for (let p = text.indexOf(want); p >= 0; p = text.indexOf(want, from)) {
			for (let e; (e = text.indexOf("\n", from)) >= 0 && e < p; from = e + 1)
				line++;
			found.push(base + line);
			from = text.indexOf("\n", p) + 1;
			line++;
			if (!from)
				break;
		}
		return found;
	}

	/* Blocks are marked when they come into sight. */
	const seen = new Set();
	const watch = new IntersectionObserver(all => {
		for (const e of all) {
			seen[e.isIntersecting ? "add" : "delete"](e.target);
			if (e.isIntersecting)
				mark(e.target);
		}
	}, { rootMargin: "100%" });

	function mark(b) {
		const i = number.get(b), found = b.hits || [];
		for (const l of Array.from(b.getElementsByClassName("hit")))
			l.classList.remove("hit");
		for (const n of found)
			b.children[n - first[i]].classList.add("hit");
	}

	function show(line) {
		if (at)
			at.classList.remove("now");
		at = line;
		if (line)
			line.classList.add("now");
	}

	function say() {
		count.textContent = !query.value ? "" : !hits.length ? "not found" :
			(now < 0 ? "" : (now + 1) + " of ") + hits.length +
			(hits.length === 1 ? " line" : " lines");
	}

	function search() {
		const want = query.value.toLowerCase();
		index();
		hits = [];
		blocks.forEach((b, i) => {
			b.hits = want ? find(texts[i], want, first[i]) : [];
			for (const n of b.hits)
				hits.push(n);
			b.classList.toggle("some", b.hits.length > 0);
			b.style.containIntrinsicHeight = only.checked && want ? 1.55 * b.hits.length + "em" : "";
		});
		seen.forEach(mark);
		now = -1;
		show(null);
		log.classList.toggle("only", only.checked && want !== "");
		say();
	}

	function go(step) {
		if (!hits.length)
			return;
		now = now < 0 ? (step > 0 ? 0 : hits.length - 1)
			: (now + step + hits.length) % hits.length;
		const i = first.findIndex(n => n > hits[now]) - 1;
		mark(blocks[i]);
		show(blocks[i].children[hits[now] - first[i]]);
		for (const b of at.getElementsByTagName("button"))
			fold(b, false);
		at.scrollIntoView({ block: "center" });
		say();
	}

	/* The next backtrace: one begins with frame 0. */
	function goTrace(step) {
		const begin = Array.from(log.getElementsByClassName("z"), f => f.closest("li"));
		if (!begin.length)
			return;
		const i = begin.indexOf(at);
		show(begin[i < 0 ? (step > 0 ? 0 : begin.length - 1)
			: (i + step + begin.length) % begin.length]);
		at.scrollIntoView({ block: "center" });
		const frame = at.querySelector("button");
		if (frame)
			frame.focus({ preventScroll: true });
	}

	/* A frame, whose button this is, and what it is inlined in. */
	function fold(button, folded) {
		button.setAttribute("aria-expanded", !folded);
		if (folded)
			button.nextElementSibling.setAttribute("hidden", "until-found");
		else
			button.nextElementSibling.removeAttribute("hidden");
	}

	function unfold() {
		const frames = Array.from(log.getElementsByTagName("button"));
		const folded = !log.querySelector("button[aria-expanded=false]");
		for (const b of frames)
			fold(b, folded);
	}

	/* A line as text, what is folded included. */
	function plain(line) {
		const copy = line.cloneNode(true);
		for (const b of Array.from(copy.getElementsByTagName("button")))
			b.remove();
		for (const d of Array.from(copy.querySelectorAll("samp div")))
			d.prepend("\n    ");
		for (const b of Array.from(copy.getElementsByTagName("br")))
			b.replaceWith("\n    ");
		return copy.textContent.replace(/\n+$/, "").replace(/ +$/gm, "");
	}

	const step = (line, to) => line[to + "ElementSibling"] ||
		(line.parentNode[to + "ElementSibling"] || {})[to === "next" ? "firstElementChild" : "lastElementChild"];
	const isFrame = line => line && line.querySelector("samp");

	/* The backtrace in which the current line is, else the first one. */
	function copyTrace() {
		const z = log.getElementsByClassName("z")[0];
		let line = isFrame(at) ? at : z && z.closest("li"), text = "";
		while (line && !line.querySelector(".z") && isFrame(step(line, "previous")))
			line = step(line, "previous");
		do {
			text += line ? plain(line) + "\n" : "";
			line = line && step(line, "next");
		} while (isFrame(line) && !line.querySelector(".z"));
		if (text)
			navigator.clipboard.writeText(text).then(() => { count.textContent = "copied"; },
				() => { count.textContent = "not copied: the browser forbids it"; });
	}

	/* "17", or "2.17" in the second input: the line of that name, or null. */
	function named(name) {
		const [, input, n] = /^#(?:(\d+)\.)?(\d+)$/.exec(name) || [];
		const b = blocks.filter(b => nameOf(b) === (input ? input + "." : "")).findLast(b => firstOf(b) <= n);
		return b ? b.children[n - firstOf(b)] || null : null;
	}

	function nameOf(block) {
		return block.style.getPropertyValue("--input").replace(/'/g, "");
	}

	function firstOf(block) {
		return Number(block.style.getPropertyValue("--first"));
	}

	function goNamed() {
		const line = named(location.hash);
		if (line) {
			show(line);
			line.scrollIntoView({ block: "center" });
		}
	}

	query.addEventListener("focus", prepare);
	query.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(search, 120);
	});
	query.addEventListener("keydown", e => {
		if (e.key === "Enter") {
			clearTimeout(timer);
			if (now < 0)
				search();
			go(e.shiftKey ? -1 : 1);
			e.preventDefault();
		} else if (e.key === "Escape") {
			query.value = "";
			search();
		}
	});
	only.addEventListener("change", search);
	$("maps").addEventListener("change", e => log.classList.toggle("maps", e.target.checked));
	$("previous").addEventListener("click", () => go(-1));
	$("next").addEventListener("click", () => go(1));
	$("trace").addEventListener("click", () => goTrace(1));
	$("copy").addEventListener("click", copyTrace);
	$("unfold").addEventListener("click", unfold);
	log.addEventListener("click", e => {
		const line = e.target, b = line.parentNode;
		if (line.tagName === "BUTTON")
			fold(line, line.getAttribute("aria-expanded") === "true");
		/* A click on its number makes a line the one that the address names. */
		else if (line.tagName === "LI" && !getSelection().toString() &&
			 e.offsetX < parseFloat(getComputedStyle(line).paddingLeft))
			location.hash = nameOf(b) + (firstOf(b) + Array.prototype.indexOf.call(b.children, line));
	});
	log.addEventListener("beforematch", e => fold(e.target.previousElementSibling, false));
	addEventListener("hashchange", goNamed);
	goNamed();
	const keys = {
		"/": () => { query.focus(); query.select(); },
		n: () => go(1),
		N: () => go(-1),
		b: () => goTrace(1),
		B: () => goTrace(-1),
		c: copyTrace,
		u: unfold,
		o: () => only.click(),
		p: () => $("maps").click(),
		m: () => {
			const modules = $("modules");
			modules.open = !modules.open;
			modules.firstElementChild.focus();
		},
		"?": () => { $("help").open = !$("help").open; },
	};
	document.addEventListener("keydown", e => {
		if (e.target === query || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === "Escape") {
			$("help").open = false;
		} else if (Object.hasOwn(keys, e.key)) {
			keys[e.key]();
			e.preventDefault();
		}
	});
})();
