#!/usr/bin/env node
// Starts Lapel with the Node that the project brings: the machine's own may be too old to read TypeScript.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const own = join(root, 'node_modules', '.bin', 'node');
const node = existsSync(own) ? own : process.execPath;
const child = spawn(node, [join(root, 'src', 'main.ts'), ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
