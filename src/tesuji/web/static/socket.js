/** @file The one connection with the server. It comes back by itself. */

/**
 * @typedef {object} Listener
 * @property {(message: any) => void} hear
 * @property {(up: boolean) => void} state
 */

export class Connection {
  /** @type {WebSocket | null} */ #socket = null;
  #wait = 250;
  #beat = 0;

  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.#open();
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#hurry());
    setInterval(() => this.send({ do: "ping" }), 25000);
  }

  get up() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** @param {Record<string, unknown>} message */
  send(message) {
    if (this.up) this.#socket?.send(JSON.stringify(message));
    return this.up;
  }

  #open() {
    clearTimeout(this.#beat);
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#wait = 250;
      this.listener.state(true);
    });
    socket.addEventListener("message", (event) => this.listener.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (this.#socket !== socket) return;
      this.listener.state(false);
      this.#beat = setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(8000, this.#wait * 1.7);
    });
  }

  #hurry() {
    if (this.#socket?.readyState === WebSocket.CLOSED) this.#open();
  }
}
