// Base URLs of the bank and of this service. They are set at start: a port of the embedded sandbox
// bank or of the service may be known only once it listens.
export class Addresses {
  /** Base URL of the bank's API, without a slash at its end. */
  bankBaseUrl = '';
  /** Base URL of the bank's API for calls with the partner key, without a slash at its end. */
  bankWhitelabelUrl = '';
  /** Base URL at which the bank reaches this service, without a slash at its end. */
  publicUrl = '';
}
