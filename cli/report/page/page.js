// What a reader with script has besides: on paper, all that is folded.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const folded of unfolded) folded.open = true;
});
addEventListener("afterprint", () => {
  for (const folded of unfolded) folded.open = false;
});
