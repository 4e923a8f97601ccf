"use strict";
(() => {
	const $ = id => document.getElementById(id);
	const log = $("log"), query = $("query"), only = $("only"), count = $("count");
	let lines = null, texts, blocks, hits = [], now = -1, timer = 0, trace = null;

	/* Made when it is first wanted: 100,000 lines take a moment. */
	function index() {
		if (lines)
			return;
		lines = Array.from(log.getElementsByClassName("l"));
		texts = lines.map(l => l.textContent.toLowerCase());
		blocks = Array.from(log.getElementsByClassName("b"));
	}

	function say() {
		count.textContent = !query.value ? "" : !hits.length ? "not found" :
			(now < 0 ? "" : (now + 1) + " of ") + hits.length +
			(hits.length === 1 ? " line" : " lines");
	}

	function search() {
		const want = query.value.toLowerCase();
		index();
		for (const l of hits)
			l.classList.remove("hit", "now");
		for (const b of blocks)
			b.classList.remove("some");
		hits = want ? lines.filter((l, i) => texts[i].includes(want)) : [];
		for (const l of hits) {
			l.classList.add("hit");
			l.parentNode.classList.add("some");
		}
		now = -1;
		log.classList.toggle("only", only.checked && want !== "");
		say();
	}

	function go(step) {
		if (!hits.length)
			return;
		if (now >= 0)
			hits[now].classList.remove("now");
		now = now < 0 ? (step > 0 ? 0 : hits.length - 1)
			: (now + step + hits.length) % hits.length;
		hits[now].classList.add("now");
		for (const d of hits[now].querySelectorAll("details"))
			d.open = true;
		hits[now].scrollIntoView({ block: "center" });
		say();
	}

	/* The next backtrace: one begins with frame 0. */
	function goTrace(step) {
		const first = Array.from(log.getElementsByClassName("z"), f => f.closest(".l"));
		if (!first.length)
			return;
		let at = first.indexOf(trace);
		at = at < 0 ? (step > 0 ? 0 : first.length - 1)
			: (at + step + first.length) % first.length;
		if (trace)
			trace.classList.remove("now");
		trace = first[at];
		trace.classList.add("now");
		trace.scrollIntoView({ block: "center" });
		const frame = trace.querySelector("details.f > summary");
		if (frame)
			frame.focus({ preventScroll: true });
	}

	function unfold() {
		const frames = Array.from(log.getElementsByTagName("details"));
		const open = frames.some(d => !d.open);
		for (const d of frames)
			d.open = open;
	}

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
	$("unfold").addEventListener("click", unfold);
	/* A click on its number makes a line the one that the address names. */
	log.addEventListener("click", e => {
		if (e.target.classList.contains("l") && !getSelection().toString() &&
		    e.offsetX < parseFloat(getComputedStyle(e.target).paddingLeft))
			location.hash = e.target.id;
	});
	const keys = {
		"/": () => { query.focus(); query.select(); },
		n: () => go(1),
		N: () => go(-1),
		b: () => goTrace(1),
		B: () => goTrace(-1),
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
