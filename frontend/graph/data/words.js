/* The graph view's words for people: short names of operators, types and values. */

/** @type {Record<string, string>} */
const DTYPES = {
  Float: "f32",
  Double: "f64",
  Half: "f16",
  BFloat16: "bf16",
  Long: "i64",
  Int: "i32",
  Short: "i16",
  Char: "i8",
  Byte: "u8",
  Bool: "bool",
  QUInt8: "qu8",
  QInt8: "qi8",
  QInt32: "qi32",
  float32: "f32",
  float64: "f64",
  float16: "f16",
  bfloat16: "bf16",
  int64: "i64",
  int32: "i32",
  int16: "i16",
  int8: "i8",
  uint8: "u8",
  quint8: "qu8",
  qint8: "qi8",
  qint32: "qi32",
};

/** @type {Record<string, string>} */
const BACKENDS = { torchscript: "TorchScript", inductor: "Inductor", aotinductor: "AOTInductor" };

/**
 * The name of a backend for people.
 * @param {string} id
 */
export function backendName(id) {
  return BACKENDS[id] ?? id;
}

/**
 * A number of things: "1 node", "2 nodes".
 * @param {number} number
 * @param {string} noun
 * @param {string} [several] its plural
 */
export function count(number, noun, several = `${noun}s`) {
  return `${number} ${number === 1 ? noun : several}`;
}

/** @param {string} op */
export function opName(op) {
  const tail = op.slice(op.lastIndexOf("::") + 1).replace(/^:/, "");
  return tail.replace(/^torch\.ops\./, "").replace(/^(aten|prims|mkldnn)\./, "");
}

/**
 * A dtype as torch names it in short: `float32` reads `f32`.
 * @param {string} dtype
 */
export function shortDtype(dtype) {
  return DTYPES[dtype] ?? dtype;
}

/**
 * `Float(1, 64, strides=…)` reads `f32[1, 64]`; what is no sized tensor stays as torch says it.
 * @param {string} type
 */
export function shortType(type) {
  const match = /^(\w+)\(([^)]*)\)$/.exec(type.replace(/\[[^\]]*\]/g, ""));
  if (!match || !(match[1] in DTYPES)) return type.length > 40 ? `${type.slice(0, 39)}…` : type;
  const sizes = match[2]
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part && !part.includes("="));
  return `${DTYPES[match[1]]}[${sizes.join(", ")}]`;
}

/**
 * The last word of a value's or attribute's name: `self.conv1.weight.3` reads `weight`.
 * @param {string} name
 */
function shortName(name) {
  const parts = name.split(/[./]/).filter((part) => part && !/^\d+$/.test(part));
  return parts.at(-1) || name;
}

/**
 * The attribute that a `prim::GetAttr` reads; empty for any other node.
 * @param {GraphNode} node
 */
export function attributeName(node) {
  const pair = node.op === "prim::GetAttr" && node.attributes.find((one) => one.name === "name");
  return pair ? pair.text.replace(/^"(.*)"$/, "$1") : "";
}

/**
 * Attributes by as much of the first one's path as tells it apart in a module, and how many more there are.
 * @param {string[]} options
 */
export function pathText([path, ...more], frame = "") {
  const parts = (frame && path.startsWith(`${frame}.`) ? path.slice(frame.length + 1) : path).split(".");
  const words = [...parts.keys()].filter((at) => !/^\d+$/.test(parts[at]));
  return `${parts.slice(words.at(-2) ?? 0).join(".")}${more.length ? ` +${more.length}` : ""}`;
}

/**
 * What a constant's chip says; empty for plain numbers, flags and lists, which would drown the rest.
 * @param {string | null} [known] what to call it, where more is known than its name
 * @param {GraphNode} node
 */
export function chipText(node, known) {
  if (node.constant) return `${known || shortName(node.outputs[0].name)} [${node.constant.shape.join(", ")}]`;
  if (known) return known;
  const type = node.outputs.length ? node.outputs[0].type : "";
  if (node.op === "prim::GetAttr") {
    const name = attributeName(node);
    const primitive = /^(int|bool|float|str|NoneType|Device|(int|bool|float)\[\]|.*\?)$/.test(type);
    if (primitive) return "";
    const sizes = /^\w+(\[.*\])$/.exec(shortType(type));
    return `${name || shortName(node.outputs[0].name)}${sizes ? ` ${sizes[1]}` : ""}`;
  }
  return /Tensor/.test(type) ? shortName(node.outputs[0].name) : "";
}
