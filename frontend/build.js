/* Writes static/bundles/: what pages load of the modules in this folder, which are never loaded themselves.
 *
 *   node frontend/build.js            writes the bundles
 *   node frontend/build.js --check    fails, and names them, where they are not what the sources give
 *
 * Bundles are kept in the tree, so that users need no Node. They have no comments, but are not minified otherwise, so
 * that a change to them can be read; only the layout's worker, which a bundle holds as a text, is.
 */

import { readdir, readFile, rm, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { DEFAULTS } from "./viewer/state.js";

const TARGET = "es2022";
const SOURCES = path.dirname(fileURLToPath(import.meta.url));
const BUNDLES = path.join(SOURCES, "..", "static", "bundles");

/** Plain scripts, and the modules that Panel and anywidget load: name of the bundle -> its entry. */
const SCRIPTS = {
  "graph_view.js": "entries/graph_view.js",
  "viewer.js": "entries/viewer.js",
  "report_start.js": "report.js",
  "dashboard.js": "entries/dashboard.js",
  "dashboard_start.js": "dashboard/start.js",
  "sweep.js": "entries/sweep.js",
  "sweep_start.js": "sweep/start.js",
};
const MODULES = { "dashboard_panel.js": "dashboard/panel.js", "notebook_link.js": "notebook/link.js" };

/**
 * @param {string} entry path of a module in this folder
 * @param {import("esbuild").BuildOptions} options
 * @returns {Promise<string>} the text of its bundle, without comments
 */
async function bundle(entry, options) {
  const built = await build({
    absWorkingDir: SOURCES,
    entryPoints: [entry],
    bundle: true,
    write: false,
    charset: "utf8",
    target: TARGET,
    legalComments: "none",
    minifyWhitespace: true, // drops comments
    logLevel: "warning",
    ...options,
  });
  const [{ text }] = /** @type {import("esbuild").OutputFile[]} */ (built.outputFiles);
  if (options.minify) return text;
  const printed = await transform(text, { charset: "utf8", target: TARGET }); // in lines again
  return printed.code;
}

/** @returns {Promise<Map<string, string>>} the text of each file of static/bundles/ */
async function buildAll() {
  const worker = await bundle("graph/layout/worker.js", { format: "iife", minify: true });
  const define = { LAYOUT_WORKER: JSON.stringify(worker) };
  const files = new Map([["state_defaults.json", `${JSON.stringify(DEFAULTS, null, 2)}\n`]]);
  for (const [name, entry] of Object.entries(SCRIPTS)) files.set(name, await bundle(entry, { format: "iife", define }));
  for (const [name, entry] of Object.entries(MODULES)) files.set(name, await bundle(entry, { format: "esm" }));
  return files;
}

/**
 * @param {Map<string, string>} files
 * @returns {Promise<string[]>} the names that static/bundles/ lacks, has with another text, or has too many
 */
async function findStale(files) {
  const present = /** @type {string[]} */ (await readdir(BUNDLES).catch(() => []));
  const stale = present.filter((name) => !files.has(name));
  for (const [name, text] of files) {
    const kept = present.includes(name) ? await readFile(path.join(BUNDLES, name), "utf8") : null;
    if (kept !== text) stale.push(name);
  }
  return stale.sort();
}

const files = await buildAll();
const stale = await findStale(files);
if (process.argv.includes("--check")) {
  if (stale.length) {
    console.error(`static/bundles/ is not what frontend/ gives: ${stale.join(", ")}. Run "make bundles" and commit.`);
    process.exitCode = 1;
  }
} else {
  await mkdir(BUNDLES, { recursive: true });
  for (const name of stale) {
    const text = files.get(name);
    if (text === undefined) await rm(path.join(BUNDLES, name));
    else await writeFile(path.join(BUNDLES, name), text);
  }
  console.log(stale.length ? `static/bundles/: wrote ${stale.join(", ")}` : "static/bundles/ is current");
}
