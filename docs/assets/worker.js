// A worker in a hidden frame: browsers start no workers in pages from the disk, and the search is one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.ready = new Promise((done) => {
        const page = this.inside.document;
        this.inside.postMessage = (data) =>
          this.dispatchEvent(new MessageEvent("message", { data }));
        this.inside.importScripts = (...files) =>
          files.reduce((before, file) => before.then(() => load(file)), Promise.resolve());
        const load = (file) =>
          new Promise((loaded) => {
            const script = page.createElement("script");
            script.src = new URL(file, new URL(address, location.href));
            script.onload = script.onerror = loaded;
            page.body.append(script);
          });
        load("").then(done);
      });
    }
    postMessage(data) {
      this.ready.then(() =>
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })));
    }
  };
}
