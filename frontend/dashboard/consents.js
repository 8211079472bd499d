/* The user's consents to open models without a sandbox, as the server's messages name them. */

export class Consents {
  constructor() {
    /** @type {Map<string, unknown>} */
    this.agreed = new Map(); // by model: the file that the user agreed to open
  }

  /** @param {string} model */
  has(model) {
    return this.agreed.has(model);
  }

  /**
   * @param {string} model
   * @param {unknown} file the file that the model's name stands for
   */
  add(model, file) {
    this.agreed.set(model, file);
  }

  /**
   * The consent to open a model, as part of a message; empty without consent.
   * @param {string} model
   */
  of(model) {
    return this.agreed.has(model) ? { consent: this.agreed.get(model) } : {};
  }

  /**
   * The consents to all that a request opens, as part of a message.
   * @param {RecordingRequest} request
   */
  ofRequest({ model, float_model: floatModel }) {
    const agreed = floatModel && this.agreed.get(floatModel);
    return { ...this.of(model), ...(agreed ? { float_consent: agreed } : {}) };
  }
}
