// Menus of the account's templates and API keys.

import { type Names, namesOf } from "../pages/origins";
import { useResource } from "../resource";
import { may } from "../rights";

interface Props {
  /** The id that is chosen; it may be that of a template or key which the lists lack. */
  value?: string;
  /** What the menu says for no choice. */
  none: string;
  onChange: (id: string) => void;
}

interface Group {
  name: string;
  items: { id: string; name: string }[];
}

export const useOverview = () => useResource("GET /v1/overview").data;

function useLists() {
  const { templates: saved = [], starterTemplates = [] } = useOverview() ?? {};
  return { saved, starters: starterTemplates.map(({ slug, name }) => ({ id: slug, name })) };
}

/** Return the names of templates and of keys that the user may list. */
export function useNames(): Names {
  const { saved, starters } = useLists();
  return namesOf(starters, saved, useOverview()?.keys);
}

export function TemplateChoice(props: Props) {
  const { saved, starters } = useLists();
  const groups = [
    { name: "Saved templates", items: saved },
    { name: "Starter templates", items: starters },
  ];
  return <Choice label="Template" groups={groups} {...props} />;
}

/** Only owners and developers may read the names of keys; others choose a key from an email. */
export function KeyChoice(props: Props) {
  const keys = useOverview()?.keys ?? [];
  if (!may("keys") && !props.value) return null;
  const groups = [
    { name: "Keys", items: keys.filter((key) => !key.revokedAt) },
    { name: "Revoked keys", items: keys.filter((key) => key.revokedAt) },
  ];
  return <Choice label="API key" groups={groups} {...props} />;
}

function Choice({ label, groups, value = "", none, onChange }: Props & { label: string; groups: Group[] }) {
  const known = groups.some(({ items }) => items.some(({ id }) => id === value));
  return (
    <label class="choice">
      <span class="hidden">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{none}</option>
        {value && !known && <option value={value}>{value}</option>}
        {groups.map(
          ({ name, items }) =>
            items.length > 0 && (
              <optgroup label={name} key={name}>
                {items.map((item) => (
                  <option value={item.id} key={item.id}>
                    {item.name}
                  </option>
                ))}
              </optgroup>
            ),
        )}
      </select>
    </label>
  );
}
