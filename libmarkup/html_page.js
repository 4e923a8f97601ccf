"use strict";
(() => {
	const $ = id => document.getElementById(id);
	const log = $("log"), query = $("query"), only = $("only"), count = $("count");
	let lines = null, texts, blocks, hits = [], now = -1, timer = 0;

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
	$("unfold").addEventListener("click", () => {
		const frames = Array.from(log.getElementsByTagName("details"));
		const open = frames.some(d => !d.open);
		for (const d of frames)
			d.open = open;
	});
	document.addEventListener("keydown", e => {
		if (e.target === query || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === "/") {
			query.focus();
			query.select();
			e.preventDefault();
		} else if (e.key === "n") {
			go(1);
		} else if (e.key === "N") {
			go(-1);
		}
	});
})();
