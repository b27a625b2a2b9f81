/** A write of a connection was refused, because the device has a newer connection or may not be connected any more. */
export class Superseded extends Error {
  constructor() {
    super('the device is connected elsewhere, or not allowed to be');
    this.name = 'Superseded';
  }
}
