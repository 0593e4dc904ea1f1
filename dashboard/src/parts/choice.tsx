// A choice that needs more than a word.

/** One of several cards, of which one is chosen. */
export function Choice(props: { group: string; name: string; about: string; checked: boolean; onChoose: () => void }) {
  return (
    <div class="choose">
      <label>
        <input type="radio" name={props.group} checked={props.checked} onChange={props.onChoose} />
        <b>{props.name}</b>
        <span>{props.about}</span>
      </label>
    </div>
  );
}
