// The Node client's connections for tests in another language: the commands "open", "ask" and "close" of the driver in
// C. Requests and replies go through the client's own JSON both ways.
import { createInterface } from "node:readline";

import { decode, encode } from "../../../clients/node/index.js";
import { Connection } from "../../../clients/node/lib/connection.js";

const connections = new Map();

const commands = {
  async open(name, host, port) {
    connections.set(name, await Connection.open({ host, port: Number(port) }));
    return "ok";
  },
  async ask(name, request) {
    const connection = connections.get(name);
    const answer = new Promise((resolve, reject) => Object.assign(connection, { onbody: resolve, onlost: reject }));
    connection.send(encode(decode(Buffer.from(request, "hex"))));
    return Buffer.from(encode(decode(await answer))).toString("hex");
  },
  async close(name) {
    connections.get(name).close();
    return "ok";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(" ");
  const answer = await commands[name](...words).catch((error) => error.message);
  console.log(answer);
}
for (const connection of connections.values()) connection.close();
