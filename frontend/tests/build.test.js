/* The modules themselves: they import one another without a circle, so that their order never matters. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @type {Map<string, string[]>} */
const imports = new Map();
for (const name of readdirSync(SOURCES, { recursive: true }).map(String)) {
  if (!name.endsWith(".js") || name.startsWith("tests")) continue;
  const text = readFileSync(path.join(SOURCES, name), "utf8");
  const found = [...text.matchAll(/^(?:import|\}|export).* from "(\.[^"]+)";$/gm)].map((match) => match[1]);
  imports.set(
    name,
    found.map((one) => path.join(path.dirname(name), one)),
  );
}

test("every import is there", () => {
  for (const [name, found] of imports) for (const one of found) assert.ok(imports.has(one), `${name} imports ${one}`);
  assert.ok([...imports.values()].flat().length > 200);
});

test("no module imports itself through others", () => {
  /** @type {Map<string, "open" | "done">} */
  const seen = new Map();
  const visit = (/** @type {string} */ name, /** @type {string[]} */ way) => {
    assert.notEqual(seen.get(name), "open", `a circle: ${[...way, name].join(" -> ")}`);
    if (seen.get(name) === "done") return;
    seen.set(name, "open");
    for (const one of imports.get(name) ?? []) visit(one, [...way, name]);
    seen.set(name, "done");
  };
  for (const name of imports.keys()) visit(name, []);
});

test("every module is part of a bundle", () => {
  const reached = new Set();
  const visit = (/** @type {string} */ name) => {
    if (reached.has(name)) return;
    reached.add(name);
    for (const one of imports.get(name) ?? []) visit(one);
  };
  const build = readFileSync(path.join(SOURCES, "build.js"), "utf8");
  for (const match of build.matchAll(/"([\w/]+\.js)"/g)) if (imports.has(match[1])) visit(match[1]);
  visit("build.js");
  assert.deepEqual(
    [...imports.keys()].filter((name) => !reached.has(name)),
    [],
  );
});

test("the graph view knows nothing of the pages around it", () => {
  for (const [name, found] of imports) {
    const outside = found.filter((one) => !one.startsWith("graph/"));
    if (name.startsWith("graph/")) assert.deepEqual(outside, [], name);
    if (name.startsWith("viewer/")) assert.ok(!found.some((one) => /^(dashboard|notebook|entries)\//.test(one)), name);
  }
});

test("every export is imported, or named by a type", () => {
  const types = readdirSync(SOURCES, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => readFileSync(path.join(SOURCES, name), "utf8"))
    .join("\n");
  const sources = readdirSync(SOURCES, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({ name, text: readFileSync(path.join(SOURCES, name), "utf8") }));
  const taken = new Set();
  for (const { name, text } of sources) {
    for (const [, names, from] of text.matchAll(/^import \{([^}]*)\} from "(\.[^"]+)";$/gm)) {
      const file = path.join(path.dirname(name), from);
      for (const one of names.split(",")) taken.add(`${file} ${one.trim().split(" as ")[0]}`);
    }
    for (const [, as, from] of text.matchAll(/^import \* as (\w+) from "(\.[^"]+)";$/gm)) {
      const file = path.join(path.dirname(name), from);
      for (const [, one] of text.matchAll(new RegExp(`\\b${as}\\.(\\w+)`, "g"))) taken.add(`${file} ${one}`);
    }
  }
  const exported = sources.flatMap(({ name, text }) =>
    [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, one]) => ({ name, one })),
  );
  const dead = exported.filter(
    ({ name, one }) =>
      !taken.has(`${name} ${one}`) &&
      !types.includes(`${name}").${one}`) &&
      !new RegExp(`/${path.basename(name)}"\\)\\.${one}\\b`).test(types),
  );
  const entries = ["dashboard/panel.js", "notebook/link.js"]; // Panel and anywidget call what these export
  assert.ok(exported.length > 200);
  assert.deepEqual(
    dead.filter(({ name }) => !entries.includes(name)),
    [],
  );
});
