// The rules of an account, in their order, and each with its versions.
import { Controller } from '@nestjs/common';
import { readPage, isUuid } from '../../platform/http/listing.js';
import { RuleCatalog } from '../../reconciliation/rules/rule-catalog.service.js';
import { ActorNames } from '../actor-names.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import { accountOf, pathId } from '../visit.js';
import { RuleDetail } from './rule-detail.js';
import { defaultText } from './rule-sentence.js';
import { AllRules, RulesInOrder } from './rule-list.js';

const rules = '/console/accounts/:account/rules';

@Controller()
export class RulePages {
  constructor(
    private readonly catalog: RuleCatalog,
    private readonly actors: ActorNames,
  ) {}

  @ConsolePage({
    path: rules,
    needs: 'view',
    menu: { title: 'rules.title', section: 'statement', place: 44 },
  })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { id: accountId } = accountOf(visit);
    const title = visit.t('rules.title');
    if (visit.query.get('all') === 'true') {
      const cursor = visit.query.get('cursor') ?? undefined;
      const { data, next } = await this.catalog.list(accountId, readPage({ cursor }, isUuid));
      return new Shown(title, <AllRules visit={visit} rules={[...data]} next={next} />);
    }
    const found = await this.catalog.listInOrder(accountId);
    return new Shown(title, <RulesInOrder visit={visit} rules={found} />);
  }

  @ConsolePage({ path: `${rules}/:id`, needs: 'view' })
  async detail(@Visiting() visit: Visit): Promise<PageAnswer> {
    const found = await this.catalog.getWithTerms(accountOf(visit).id, pathId(visit));
    const steps = found.rule.versions.flatMap((version) => version.steps);
    const nameOf = await this.actors.find(
      visit,
      steps.map(({ actor }) => actor),
    );
    const title = defaultText(found.rule.name, visit.t);
    return new Shown(title, <RuleDetail {...{ visit, nameOf, ...found }} />);
  }
}
