/* Uploads of files to the server, with their progress. */

import { bytesText } from "../viewer/amounts.js";
import { fill, h } from "../viewer/dom.js";
import { button, progress } from "./pieces.js";
import { nameText } from "./words.js";

const EXTENSIONS = ".fztrace,.pt,.pth,.ts,.pt2,.torchscript";

/**
 * A line that sends a file from this browser; `done(path)` once it is there.
 * @param {Dashboard} app
 * @param {(path: string) => void} done
 */
export function uploadLine(app, done) {
  const limit = app.channel.site.upload_limit_bytes;
  const chooser = h("input", {
    type: "file",
    accept: EXTENSIONS,
    hidden: true,
    "aria-label": "File to upload",
    tabindex: "-1",
  });
  const place = h("div.fd-upload");
  chooser.addEventListener("change", () => chooser.files?.[0] && uploadInto(app, place, chooser.files[0], done));
  const words = h("span.fv-muted.fv-small", null, `for a file that is not on that machine, up to ${limitText(limit)}`);
  return h(
    "div.fd-upload-line",
    null,
    h(
      "div.fd-row",
      null,
      button("Upload from this browser…", () => chooser.click(), { icon: "up" }),
      words,
      chooser,
    ),
    place,
  );
}

/**
 * Sends a file, shows how far it is in `place`, and hands its path to `done`.
 * @param {Dashboard} app
 * @param {Element} place
 * @param {File} file
 * @param {(path: string) => void} done
 */
export async function uploadInto(app, place, file, done) {
  const bar = progress(`Upload of ${nameText(file.name)}`);
  const said = h("span.fv-num.fv-small", { role: "status" });
  const { promise, cancel } = upload(app, file, (sent) => {
    bar.update(sent, file.size);
    said.textContent = `${bytesText(sent)} of ${bytesText(file.size)}`;
  });
  fill(
    place,
    h("div.fd-row", null, h("strong.fv-clip", null, nameText(file.name)), bar.element, said, button("Cancel", cancel)),
  );
  try {
    const path = await promise;
    fill(place);
    done(path);
  } catch (error) {
    fill(place, h("p.fd-error", { role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
}

/**
 * Streams a file to the server. XMLHttpRequest, because fetch does not report the progress of an upload.
 * @param {Dashboard} app
 * @param {File} file
 * @param {(sent: number) => void} onprogress gets the bytes sent so far
 * @returns {{promise: Promise<string>, cancel: () => void}} the path that the file has there
 */
function upload(app, file, onprogress) {
  const limit = app.channel.site.upload_limit_bytes;
  if (file.size > limit) {
    const text = `${file.name} has ${bytesText(file.size)}; the server accepts at most ${limitText(limit)}. Copy it to the machine that runs freezer-ui and open it by its path.`;
    return { promise: Promise.reject(new Error(text)), cancel: () => {} };
  }
  const request = new XMLHttpRequest();
  let cancelled = false;
  let cancel = () => {};
  const promise = new Promise((resolve, reject) => {
    const send = () => {
      if (cancelled) return;
      request.open("PUT", app.channel.url("upload", { name: file.name, page: app.channel.page }));
      request.send(file);
    };
    request.responseType = "text";
    request.upload.addEventListener("progress", (event) => onprogress(event.loaded));
    request.addEventListener("load", () =>
      request.status < 300
        ? resolve(JSON.parse(request.response).path)
        : reject(new Error(errorText(request.response, request.status))),
    );
    request.addEventListener("error", () =>
      reject(new Error(`${file.name} could not be sent: the connection broke, or the server refused it. Try again.`)),
    );
    cancel = () => {
      cancelled = true;
      request.abort();
      reject(new Error(`The upload of ${file.name} was cancelled.`));
    };
    app.channel.connected.then(send, reject);
  });
  return { promise, cancel: () => cancel() };
}

/**
 * The error that the server sent.
 * @param {string} body
 * @param {number} status
 */
export function errorText(body, status) {
  try {
    return JSON.parse(body).error;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `The server answered with status ${status}.`;
  }
}

/**
 * A limit, which mostly is a whole number of its unit: "1 GiB".
 * @param {number} bytes
 */
function limitText(bytes) {
  return bytesText(bytes).replace(/\.0+ /, " ");
}
