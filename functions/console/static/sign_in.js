import { start } from "./page.js";

await start();
