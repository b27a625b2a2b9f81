import type { FuzzedParser } from './parser.ts';
import { apk, axml } from './parsers/apk.ts';
import { csr } from './parsers/certification-requests.ts';
import { files } from './parsers/files.ts';
import { csv, ndjson } from './parsers/imports.ts';
import { form, json } from './parsers/json.ts';
import { message } from './parsers/messages.ts';
import { mqtt } from './parsers/mqtt.ts';
import { mqtt5 } from './parsers/mqtt5.ts';
import { payload } from './parsers/payloads.ts';
import { yaml } from './parsers/scenarios.ts';
import { filter, selector } from './parsers/selectors.ts';
import { websocket } from './parsers/web-sockets.ts';

/** All parsers of foreign bytes, by the name that `npm run try -- soak fuzz --only NAME` takes. */
export const PARSERS: Readonly<Record<string, FuzzedParser>> = {
  mqtt,
  mqtt5,
  websocket,
  apk,
  axml,
  csv,
  ndjson,
  yaml,
  files,
  json,
  form,
  payload,
  message,
  selector,
  filter,
  csr,
};
