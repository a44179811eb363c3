// Saves the filters of a list under a name, and removes them. The page that a form leads to is the
// list itself.
import { Controller } from '@nestjs/common';
import { z } from 'zod';
import { SavedViews } from '../../access/people/saved-views.service.js';
import { readBody } from '../kit/form.js';
import { sharesViews } from '../kit/list-head.js';
import { Redirect, type PageAnswer } from '../page.js';
import { pathId, sessionOf, typed, type Visit } from '../visit.js';
import { ConsoleAction, Visiting } from '../serving/console-page.decorator.js';

const list = z
  .string()
  .regex(/^[a-z-]+(\/[a-z-]+)*$/)
  .max(60);
const listed = z.object({ list });
const newView = listed.extend({
  name: z.string().min(1).max(60),
  query: z.string().min(1).max(1_000),
});

@Controller()
export class SavedViewPages {
  constructor(private readonly views: SavedViews) {}

  @ConsoleAction('views', 'view', 'own')
  async save(@Visiting() visit: Visit): Promise<PageAnswer> {
    const view = readBody(newView, given(visit, ['list', 'name', 'query']));
    const mayShare = visit.may(sharesViews);
    const query = new URLSearchParams(view.query).toString();
    await this.views.save({
      ...{ ...view, query, isShared: mayShare && visit.form.has('isShared') },
      ...{ accountId: visit.accountId, operatorId: sessionOf(visit).operatorId },
    });
    return new Redirect(visit.to(`${view.list}?${query}`));
  }

  @ConsoleAction('views/:id/remove', 'view', 'own')
  async remove(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { list: back } = readBody(listed, given(visit, ['list']));
    const isAdmin = visit.may('manage people');
    const { operatorId } = sessionOf(visit);
    await this.views.remove(visit.accountId, pathId(visit), { operatorId, isAdmin });
    return new Redirect(visit.to(back));
  }
}

const given = (visit: Visit, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, typed(visit, name)]));
