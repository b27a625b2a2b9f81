/** What a response says. */
export type ResponseBody = { data: object } | { error: { code: string; message: string } };

/** A request as it is carried out. */
export interface Request {
  deviceId: string;
  /** That the device was activated for when it asked; null: for none. */
  applicationId: string | null;
  /** Obeys the schema of its type. */
  asked: object;
}

/** Who carries out the requests of devices, by their `type`. */
export interface RequestHandlers {
  /** The data of a request as it is carried out, or at once the answer to one that cannot be. */
  read(type: string, data: object): { asked: object } | ResponseBody;
  /** Calls `respond` with the answer; with undefined when the service stops before there is one. */
  carryOut(type: string, request: Request, respond: (body: ResponseBody | undefined) => void): void;
}
