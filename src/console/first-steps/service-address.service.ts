// Where business systems reach this service, and with which key, for commands to copy.
import { Injectable } from '@nestjs/common';
import { developmentValues, Settings } from '../../platform/settings/config.js';
import { Addresses } from '../../platform/http/http.js';

@Injectable()
export class ServiceAddress {
  constructor(
    private readonly settings: Settings,
    private readonly addresses: Addresses,
  ) {}

  /** `apiKey` is null unless it is the key of development, which every reader of the docs knows. */
  of(slug: string): { serviceUrl: string; apiKey: string | null } {
    const known = developmentValues.CONCILIA_API_KEY;
    const isKnown = slug === 'main' && this.settings.keys.api === known;
    return {
      serviceUrl: this.settings.publicUrl ?? this.addresses.publicUrl,
      apiKey: isKnown ? known : null,
    };
  }
}
