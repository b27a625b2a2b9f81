import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { lineOf, writtenPath } from '@lapel/schemas/base/yaml-place';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { scenarioOf } from './all-faults.ts';
import type { Path } from './check-shape.ts';
import type { Scenario } from './scenario.ts';
import { ScenarioError, type ScenarioFault } from './scenario-error.ts';
import type { ScenarioFile } from './scenario-file.ts';
import { type Beside, NOWHERE } from './value-files.ts';

/** The most errors of syntax that are listed: each bracket without its end is one. */
const MOST_FAULTS = 20;
const TOO_DEEP = 'it is nested too deeply';

const unreadable = (name: string, text: string): ScenarioError =>
  new ScenarioError(name, [{ path: '', line: null, text }]);

/** The parser calls itself for each level, so a file of brackets only would use up the stack. */
function parsed(text: string, name: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(name, TOO_DEEP);
    throw error;
  }
}

/** The value of a document. Aliases that refer to aliases could make a small file very large, so they are bounded. */
function valueIn(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    // The library throws errors of several kinds: for too many aliases, or for a merge with something else than a map.
    throw unreadable(name, error instanceof RangeError ? TOO_DEEP : (error as Error).message);
  }
}

/** A scenario as it was written, and as it was understood. */
export interface ReadScenario {
  readonly file: ScenarioFile;
  readonly scenario: Scenario;
}

/**
 * Reads a scenario (YAML, or JSON, which is YAML). `name` is its name in errors. Throws a ScenarioError with all
 * faults, each with its line and its path. `beside` has the files that it names.
 */
export function readScenario(text: string, name: string, beside: Beside = NOWHERE): ReadScenario {
  const lines = new LineCounter();
  const document = parsed(text, name, lines);
  const broken = document.errors.slice(0, MOST_FAULTS).map(
    ({ message, pos }): ScenarioFault => ({
      path: '',
      line: lines.linePos(pos[0]).line,
      // The parser makes an error of the document of most errors, also of the end of the stack.
      text: /call stack|Stack overflow/.test(message) ? TOO_DEEP : message,
    }),
  );
  if (broken.length > 0) throw new ScenarioError(name, broken);
  const refuse = (faults: readonly { path: Path; text: string }[]): never => {
    const placed = faults.map(({ path, text }) => ({
      path: writtenPath(path),
      line: lineOf(document, lines, path),
      text,
    }));
    throw new ScenarioError(
      name,
      placed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    );
  };
  const value = valueIn(document, name);
  const read = scenarioOf(value, beside);
  return Array.isArray(read) ? refuse(read) : { file: value as ScenarioFile, scenario: read };
}

/** Reads the scenario of a file. Throws a ScenarioError. */
export function readScenarioFile(path: string): ReadScenario {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ScenarioError(path, [{ path: '', line: null, text: `cannot be read: ${(error as Error).message}` }]);
  }
  const beside = (name: string): string => resolve(dirname(path), name);
  const { file, scenario } = readScenario(text, path, {
    exists: (name) => existsSync(beside(name)),
    read: (name) => (existsSync(beside(name)) ? readFileSync(beside(name), 'utf8') : undefined),
  });
  const phases = scenario.phases.map((phase) => ({
    ...phase,
    actions: phase.actions.map((action) =>
      action.release?.file === undefined
        ? action
        : { ...action, release: { ...action.release, file: beside(action.release.file) } },
    ),
    rollouts: phase.rollouts.map(({ after, plan }) =>
      plan.release?.file === undefined
        ? { after, plan }
        : { after, plan: { ...plan, release: { ...plan.release, file: beside(plan.release.file) } } },
    ),
  }));
  return { file, scenario: { ...scenario, phases } };
}
