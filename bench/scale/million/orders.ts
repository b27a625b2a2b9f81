import type { Counted } from './open-loop.ts';

/** The fleet that the processes of node drivers share; each process has some of the nodes. */
export interface Fleet {
  databaseUrl: string;
  /** A folder for the files of the nodes, of which they write none here. */
  folder: string;
  /** The number of connected devices, of all nodes together. Device n belongs to node n % nodes. */
  devices: number;
  nodes: number;
  /** The number of applications. Device n is activated for application n % applications. */
  applications: number;
  /** The credential of every device. */
  credential: string;
}

/** The nodes that one process runs. */
export interface OwnNodes extends Fleet {
  own: number[];
}

/** The parts of the load that nodes get from outside. */
export const PARTS = ['status', 'keepAlive', 'commands'] as const;
export type LoadPart = (typeof PARTS)[number];

/** What the parent asks of a process of node drivers. */
export type Order =
  | { kind: 'join' }
  | { kind: 'start' }
  /** All devices log in, as fast as they can, until the time is over. */
  | { kind: 'storm'; seconds: number }
  /** The devices that are not connected yet become so, without logins. */
  | { kind: 'adopt' }
  /** Calls at these rates, of all processes together. */
  | { kind: 'load'; seconds: number; perSecond: Partial<Record<LoadPart, number>> }
  | { kind: 'stop' };

/** What a process has done: each part with the times of its calls, and its processor time meanwhile. */
export interface Answer {
  cpuSeconds: number;
  connected: number;
  parts: Record<string, Counted>;
  error?: string;
}

export const applicationOf = (number: number): string => `million-${number}`;
