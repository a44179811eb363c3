// The names of those who acted, as a person reads them on a page.
import { Injectable } from '@nestjs/common';
import { NamesOfActors, type NameOfActor } from '../access/people/names-of-actors.service.js';
import type { Visit } from './visit.js';

@Injectable()
export class ActorNames {
  constructor(private readonly names: NamesOfActors) {}

  /** Without `see personal data`, an e-mail is shown by its first letter. */
  async find(
    { accountId, may, t }: Visit,
    actors: readonly (string | null)[],
  ): Promise<NameOfActor> {
    const words = {
      ...{ service: t('actor.service'), policy: t('actor.policy'), person: t('actor.person') },
      settingsKey: t('actor.settingsKey'),
      key: (name: string) => t('actor.key', { name }),
    };
    const isVisible = may('see personal data');
    return this.names.find(accountId, actors, { isVisible, words });
  }
}
