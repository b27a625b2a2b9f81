import type { Fault, Occasion } from '../faults/fault.ts';
import type { Passage } from '../files/download.ts';
import type { OwnFile, UploadOutcome } from '../files/uploader.ts';
import type { Answer, Command, Complaint, DeviceEvent } from '../mqtt/messages.ts';
import type { Reaction } from './device-model.ts';

/** What a device lets those know who watch it. */
export interface DeviceEvents {
  /** A command came; what the device does about it. */
  command: [command: Command, reaction: Reaction['kind']];
  /** An answer was handed to the connection, or (offline) waits for the next one. */
  answer: [answer: Answer, repeated: boolean];
  /** The service has acknowledged an answer: its effects are durable there. */
  acknowledged: [answer: Answer];
  /** A download has come to its end, good or bad. */
  download: [passage: Passage];
  /** Something happened on the device; it is told to the service, now or on the next connection. */
  event: [event: DeviceEvent];
  /** The service has acknowledged an event. */
  told: [event: DeviceEvent];
  /** An event that nobody took, and that the device had no room for any more. */
  forgotten: [event: DeviceEvent];
  /** A file is where the customer wanted it. */
  upload: [file: OwnFile];
  /** An upload is tried once more. */
  uploadRetry: [];
  /** The end of a recording or of a customer's file, whatever it is. */
  uploaded: [outcome: UploadOutcome];
  /** Connected and subscribed. */
  online: [sessionPresent: boolean];
  /** `expected`: by `disconnect` or `drop`. */
  offline: [reason: string, expected: boolean];
  /** The service refused the device's credential while it tried to reconnect: it stays offline. */
  refused: [error: Error];
  /** The service complained about a message of the device, on `errors`. `provoked`: by a fault that is played. */
  complaint: [complaint: Complaint, provoked: boolean];
  /** Something befalls the device that it was asked to play. */
  fault: [fault: Fault, occasion: Occasion];
  /** The service broke the contract: in words. */
  violation: [fault: string];
}
