// The same work on the official a2a-js: a message in, a message with a constant text out, in both protocol versions.

import { randomUUID } from "node:crypto";
import express from "express";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { Message } from "@a2a-js/sdk";

const port = Number(process.argv[2]);
const card = {
  name: "Constant",
  description: "Answers a constant.",
  version: "1.0.0",
  supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => ({
    url: `http://127.0.0.1:${port}/`,
    protocolBinding: "JSONRPC",
    protocolVersion,
  })),
  capabilities: { streaming: true, extensions: [] },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
};
const executor = {
  async execute(context, bus) {
    const message = Message.fromJSON({
      messageId: randomUUID(),
      contextId: context.contextId,
      role: "ROLE_AGENT",
      parts: [{ text: "hello world" }],
    });
    bus.publish(AgentEvent.message(message));
    bus.finished();
  },
  async cancelTask() {},
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const app = express();
app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } }));
app.listen(port, "127.0.0.1");
