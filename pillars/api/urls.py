"""Addresses under ``/api/judge/``."""

from django.urls import path

from pillars.api import views

app_name = "pillars-api"
urlpatterns = [
    path("pillars/", views.PillarList.as_view(), name="pillars"),
    path("pillars/<int:number>/", views.PillarDetail.as_view(), name="pillar"),
    path("pillars/<int:number>/threads/", views.PillarThreads.as_view(), name="threads"),
    path("pillars/<int:number>/import/", views.PillarImport.as_view(), name="import"),
    path("pillars/<int:number>/assign/", views.PillarAssign.as_view(), name="assign"),
    path("threads/<int:pk>/", views.ThreadDetail.as_view(), name="thread"),
]
