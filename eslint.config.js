import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["node_modules/", "static/bundles/", ".venv/", "demo/", "build/", "dist/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "off", // tsc checks what functions return
      curly: ["error", "multi-line"],
      "default-case-last": "error",
      eqeqeq: "error",
      "no-alert": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-param-reassign": "off", // scans move their own start
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Data enters the page as text only: use h() or textContent." },
        { property: "outerHTML", message: "Data enters the page as text only: use h() or textContent." },
        { property: "insertAdjacentHTML", message: "Data enters the page as text only: use h() or textContent." },
      ],
      "no-self-compare": "error",
      "no-throw-literal": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true }],
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "no-useless-concat": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-arrow-callback": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "prefer-object-spread": "error",
      "prefer-rest-params": "error",
      "prefer-template": "error",
    },
  },
  {
    files: ["frontend/**/*.js", "benchmarks/**/*.js"],
    languageOptions: {
      globals: {
        ...globals.browser,
        LAYOUT_WORKER: "readonly",
        FreezerViewer: "readonly",
        FreezerSweep: "readonly",
        FreezerDashboard: "readonly",
        Bokeh: "readonly",
      },
    },
  },
  { files: ["frontend/build.js", "frontend/tests/**"], languageOptions: { globals: globals.node } },
  {
    files: ["benchmarks/**/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: { FreezerGraph: "readonly", FreezerDashboard: "writable", bench: "readonly" },
    },
  },
];
