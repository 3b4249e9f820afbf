// The Node client for tests in another language: the commands of the driver in C for connections and sessions. Requests
// and replies go through the client's own JSON both ways. The hello of a session is the client's options.
import { createInterface } from "node:readline";

import { connect, decode, encode } from "../../../clients/node/index.js";
import { Connection } from "../../../clients/node/lib/connection.js";

const connections = new Map();
let session;

const read = (text) => decode(Buffer.from(text, "hex"));
const written = (value) => Buffer.from(encode(value)).toString("hex");

const commands = {
  async open(name, host, port) {
    connections.set(name, await Connection.open({ host, port: Number(port) }));
    return "ok";
  },
  async ask(name, request) {
    const connection = connections.get(name);
    const answer = new Promise((resolve, reject) => Object.assign(connection, { onbody: resolve, onlost: reject }));
    connection.send(encode(read(request)));
    return written(decode(await answer));
  },
  async close(name) {
    connections.get(name).close();
    return "ok";
  },
  async servers(host, patience, hello) {
    session = await connect({ host, patience: Number(patience) / 1000, ...read(hello) });
    return "ok";
  },
  async session_ask(request) {
    const { kind, ...fields } = read(request);
    return written(await session.request(kind, fields));
  },
  async session_close() {
    session.close();
    return "ok";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(" ");
  const answer = await commands[name](...words).catch(({ reply, message }) => (reply ? written(reply) : message));
  console.log(answer);
}
for (const connection of connections.values()) connection.close();
session?.close();
