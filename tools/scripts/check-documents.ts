// Checks, with Redocly's linter (redocly.yaml) and with Spectral, the OpenAPI and AsyncAPI documents that the service
// serves, each with and without deprecated parts, and the OpenAPI document of administration. Checks the AsyncAPI documents
// also against the schema of AsyncAPI itself.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NEWEST_RELEASE } from '@lapel/schemas/contracts/deprecations';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { Ajv } from 'ajv';
import { createDocs } from '../../src/edge/docs/docs.ts';

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'lapel-documents-'));
const files = [fileURLToPath(new URL('../../schemas/openapi-admin.yaml', import.meta.url))];
let faults = 0;

// @asyncapi/parser is not used: it checks a document against this same schema, and is 160 packages.
const ajv = new Ajv({ strict: false, allErrors: true, logger: false });
const isAsyncApi = ajv.compile(require('@asyncapi/specs/schemas/3.0.0-without-$id.json'));

for (const release of ['2026-01', NEWEST_RELEASE]) {
  const docs = createDocs({
    apiRelease: release,
    timeZone: 'Asia/Tokyo',
    publicUrl: () => 'https://lapel.example',
    mqttUrls: () => ['mqtt://lapel.example:1883', 'mqtts://lapel.example:8883', 'wss://lapel.example:8083'],
  });
  for (const path of ['/openapi.json', '/asyncapi.json'] as const) {
    const { bytes } = await docs.find(path);
    const file = join(folder, `${release}-${path.slice(1)}`);
    writeFileSync(file, JSON.stringify(JSON.parse(bytes.toString()), null, 2));
    files.push(file);
    if (path === '/asyncapi.json' && !isAsyncApi(JSON.parse(bytes.toString()))) {
      for (const { instancePath, message } of isAsyncApi.errors ?? [])
        console.error(`${file} ${instancePath} ${message}`);
      faults += 1;
    }
  }
}

const redocly = join(require.resolve('@redocly/cli/package.json'), '../bin/cli.js');
const config = fileURLToPath(new URL('../../redocly.yaml', import.meta.url));
const lint = spawnSync(process.execPath, [redocly, 'lint', ...files, `--config=${config}`], {
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  stdio: 'inherit',
});
// Its validator compiles patterns without the flag `u`, as those of other languages do.
const spectral = new spectralCore.Spectral();
spectral.setRuleset({
  extends: [rulesets.oas, rulesets.asyncapi],
  // A contact would need an e-mail address, which only the operator of a service has.
  rules: { 'asyncapi-info-contact': 'off' },
} as RulesetDefinition);
process.chdir(fileURLToPath(new URL('../../schemas', import.meta.url))); // references are relative to it
const INFORMATION = 2;
for (const file of files) {
  for (const { severity, code, message, path } of await spectral.run(readFileSync(file, 'utf8'))) {
    if (severity >= INFORMATION) continue; // among them: a newer AsyncAPI exists
    console.error(`${file} ${path.join('.')}: ${message} (${code})`);
    faults += 1;
  }
}
rmSync(folder, { recursive: true });
process.exitCode = faults > 0 || lint.status !== 0 ? 1 : 0;
