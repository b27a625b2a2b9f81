import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '@lapel/device/core/answer';
import { BOUNDS, type Bounds } from '@lapel/device/core/bounds';
import { Core } from '@lapel/device/core/core';
import type { Effect, Incoming, ListKind } from '@lapel/device/core/effects';
import { Journal } from '@lapel/device/disk/journal';
import type { Importance } from '@lapel/device/disk/records';
import type { Test } from 'tap';
import { SimulatedDisk } from './simulated-disk.ts';

interface Told {
  type: string;
  data: object;
  importance: Importance;
}

/** One member each; device/README.md explains them. */
interface Step {
  connect?: { over?: ListKind };
  disconnect?: object;
  powerCut?: object;
  restart?: object;
  tear?: number;
  flip?: number;
  diskFails?: boolean;
  advance?: number;
  setClock?: string;
  receive?: { kind: Incoming; payload?: object; text?: string };
  confirm?: string;
  finish?: Outcome;
  progress?: unknown;
  event?: Told;
  refusedEvent?: Told;
  report?: object;
  request?: { type: string; data: object };
  set?: { name: string; value: unknown };
  expect?: readonly object[];
  expectFile?: Record<string, unknown>;
}

export interface Case {
  title: string;
  rules: string[];
  options?: Partial<Bounds>;
  steps: Step[];
}

const FILE = join(import.meta.dirname, '..', '..', 'device', 'cases.json');
export const CASES = JSON.parse(readFileSync(FILE, 'utf8')) as Case[];

/** As an expectation has it; undefined for one that is left out. */
function plain(effect: Effect): object | undefined {
  if ('log' in effect || 'wake' in effect) return undefined;
  if ('publish' in effect) return { publish: effect.publish };
  if (!('begin' in effect)) return effect;
  const { issuedAt: _, ...begin } = effect.begin;
  return { begin };
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Plays a case, and compares what the core wants done with its expectations. */
export function playCase(t: Test, { options = {}, steps }: Case): void {
  let [wall, monotonic, events, requests] = [Date.parse('2026-11-20T09:30:00.000Z'), 0, 0, 0];
  const disk = new SimulatedDisk();
  const start = (): Core =>
    new Core({
      disk,
      bounds: options,
      now: () => wall,
      monotonic: () => monotonic,
      newId: (kind) => (kind === 'event' ? `e-${++events}` : `r-${++requests}`),
    });
  let core = start();
  let effects: object[] = [];
  let published: { kind: string; token: number }[] = [];

  function take(): void {
    for (const effect of core.take()) {
      const told = plain(effect);
      if (told) effects.push(told);
      if ('publish' in effect) published.push({ kind: effect.publish.kind, token: effect.token });
      if ('leave' in effect) published = [];
    }
  }
  function cut(change: () => void): void {
    take();
    change();
    published = [];
    core = start();
  }
  function find(): Record<string, unknown> {
    const { leastAnswers, mostAnswers } = { ...BOUNDS, ...options };
    const { memory, damaged } = new Journal(disk.copy(), { leastAnswers, mostAnswers });
    const settings = Object.fromEntries(memory.settings);
    return { answers: memory.answers.size, events: memory.events.size, begun: memory.begun.size, damaged, settings };
  }

  const play: { [Name in keyof Required<Step>]: (value: NonNullable<Step[Name]>, about: string) => void } = {
    connect: ({ over }) => core.connected(over),
    disconnect() {
      core.disconnected();
      published = [];
    },
    powerCut: () => cut(() => disk.cutPower()),
    restart: () => cut(() => core.close()),
    tear: (bytes) => cut(() => disk.tear(bytes)),
    flip: (line) => disk.flip(line),
    diskFails(fails) {
      disk.fails = fails;
    },
    advance(milliseconds) {
      wall += milliseconds;
      monotonic += milliseconds;
      core.timePassed();
    },
    setClock(time) {
      wall = Date.parse(time);
    },
    receive: ({ kind, payload, text }) => core.received(kind, text ?? JSON.stringify(payload)),
    confirm(kind, about) {
      const at = published.findIndex((one) => one.kind === kind);
      t.not(at, -1, `${about}: something is published`);
      for (const { token } of published.splice(at, 1)) core.confirmed(token);
    },
    finish: (outcome) => core.finished(outcome),
    progress: (value) => core.progress(value),
    event: ({ type, data, importance }) => void core.event(type, data, importance),
    refusedEvent({ type, data, importance }, about) {
      t.throws(() => core.event(type, data, importance), about);
    },
    report: (status) => core.report(status),
    request: ({ type, data }) => void core.request(type, data),
    set: ({ name, value }) => core.set(name, value),
    expect(expected, about) {
      t.same(asJson(effects), expected, about);
      effects = [];
    },
    expectFile: (expected, about) => t.has(find(), expected, about),
  };
  for (const [index, step] of steps.entries())
    for (const [name, value] of Object.entries(step)) {
      (play[name as keyof Step] as (value: unknown, about: string) => void)(value, `step ${index + 1}, ${name}`);
      take();
    }
}
