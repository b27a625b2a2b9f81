#!/usr/bin/env node
import { start } from './start.mjs';

await start('lapel-sim', 'device-sim/main');
