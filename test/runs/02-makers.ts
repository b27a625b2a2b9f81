import { runGroup } from './run-group.ts';

await runGroup(import.meta.filename);
