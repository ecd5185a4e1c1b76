// Cards signed and verified by the official SDK for JavaScript: `signatures.mjs NODE_MODULES`, as sdk_1_x/signatures.py for Python.
// The JSON is handed over as it came: the SDK's own parsed form (1.3.0) loses security schemes before it is verified.
import { createInterface } from "node:readline";
import { createPrivateKey, createPublicKey } from "node:crypto";

const { generateAgentCardSignature, verifyAgentCardSignature } = await import(
  `file://${process.argv[2]}/@a2a-js/sdk/dist/index.js`
);
console.debug = () => {};

async function answer({ card, jwk, sign }) {
  if (sign) {
    const key = createPrivateKey({ key: jwk, format: "jwk" });
    return { card: await generateAgentCardSignature(key, { alg: "ES256", kid: "theirs", typ: "JOSE" })(card) };
  }
  const key = createPublicKey({ key: jwk, format: "jwk" });
  try {
    await verifyAgentCardSignature(async () => key)(card);
    return { valid: true };
  } catch {
    return { valid: false };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
