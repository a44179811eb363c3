// Where the bank is and where we are; the ports of a development run are known only once they listen.
export class Addresses {
  /** The bank's service address, without a slash at its end. */
  bankBaseUrl = '';
  /** Where the bank is asked with the partner's key, without a slash at its end. */
  bankWhitelabelUrl = '';
  /** Where the bank reaches us, without a slash at its end. */
  publicUrl = '';
}
