// Unfolds all sections when the page is printed.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const folded of unfolded) folded.open = true;
});
addEventListener("afterprint", () => {
  for (const folded of unfolded) folded.open = false;
});
