// The filters of lists that people named. A view is seen by the person who named it, and by the
// others of the account where it is shared.
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/postgres/database.service.js';
import { AppError } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { SavedView } from '../../generated/service/client.js';

export type ListedView = Pick<SavedView, 'id' | 'operatorId' | 'name' | 'query' | 'isShared'>;
export type NewView = Omit<SavedView, 'id' | 'createdAt'>;

/** Of a person and a list: more are no help above a list. */
const maxViews = 20;
const maxShown = 60;

@Injectable()
export class SavedViews {
  constructor(private readonly database: Database) {}

  /** Those of a list that a person sees, by their names. */
  async list(accountId: number, list: string, operatorId: string): Promise<ListedView[]> {
    return this.database.prisma.savedView.findMany({
      where: { accountId, list, OR: [{ operatorId }, { isShared: true }] },
      select: { id: true, operatorId: true, name: true, query: true, isShared: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
      take: maxShown,
    });
  }

  /** A view with the name of another one of the person and list takes its place. */
  async save(view: NewView): Promise<void> {
    const { accountId, list, operatorId, name, query, isShared } = view;
    const { savedView } = this.database.prisma;
    const own = { accountId, list, operatorId };
    if ((await savedView.count({ where: { ...own, NOT: { name } } })) >= maxViews)
      throw new AppError('rule_broken', { reason: 'saved_view_limit' });
    await savedView.upsert({
      where: { accountId_list_operatorId_name: { ...own, name } },
      create: { id: newId(), ...view },
      update: { query, isShared },
    });
  }

  /** One of the person; an admin removes the shared ones of others too. Throws `not_found`. */
  async remove(
    accountId: number,
    id: string,
    { operatorId, isAdmin }: { operatorId: string; isAdmin: boolean },
  ): Promise<void> {
    const { count } = await this.database.prisma.savedView.deleteMany({
      where: { accountId, id, OR: [{ operatorId }, ...(isAdmin ? [{ isShared: true }] : [])] },
    });
    if (count === 0) throw new AppError('not_found');
  }
}
