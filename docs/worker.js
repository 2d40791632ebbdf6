// Browsers refuse workers to pages that are opened from disk. There, the script of the search
// worker runs in a hidden frame instead, which has the page's own origin.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      const source = new URL(address, location)
      frame.hidden = true
      frame.srcdoc = `<script src="${source}"></script>`
      this.ready = new Promise((resolve) => frame.addEventListener("load", () => resolve(frame)))
      document.body.appendChild(frame)
      frame.contentWindow.postMessage = (data) => this.answer(data)
      this.ready.then(() => { frame.contentWindow.postMessage = (data) => this.answer(data) })
    }

    answer(data) {
      this.dispatchEvent(new MessageEvent("message", { data }))
    }

    async postMessage(data) {
      const frame = await this.ready
      frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }

    terminate() {
      this.ready.then((frame) => frame.remove())
    }
  }
}
