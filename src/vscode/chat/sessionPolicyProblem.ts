import { resolveSessionPolicy, sessionPolicyProblems, type PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { shown, t } from '../../core/l10n';

/** What is wrong with the policy that a session brings along, and what is used instead; null when nothing is. */
export function sessionPolicyProblem(settings: PolicyChoice, session: unknown): string | null {
  const problems = sessionPolicyProblems(settings, session);
  if (problems.length === 0) return null;
  const used = resolveSessionPolicy(settings, session).policy.name;
  return t('The policy of this session cannot be used as it is; the policy {0} is in use. {1}', used, problems.map(({ setting, message }) => `${setting}: ${shown(message)}`).join(' '));
}
