/** The server refused a request: `code` is the protocol's code for the error, `message` the server's sentence. */
export class GmError extends Error {
  constructor(reply, kind) {
    super(String(reply.error));
    this.name = "GmError";
    this.code = reply.code ?? null;
    this.kind = kind;
    this.reply = reply;
    this.retry_after = reply.retry_after ?? null;
  }
}

/** There is no connection, or it was lost. `sent` says whether the server may have carried out the request. */
export class ConnectionLost extends Error {
  constructor(message, { cause, sent = false } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ConnectionLost";
    this.sent = sent;
  }
}

/** The data received is not a reply of a gm server. */
export class BadReply extends Error {
  constructor(message, { cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "BadReply";
  }
}
